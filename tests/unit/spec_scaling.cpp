// The key `scaling`: numbers of GPUs of one problem, or of one that grows as they do.
#include "spec_fakes.hpp"

using namespace gnnbench;
using Catch::Contains;
using gnnbench::test::complaint;
using gnnbench::test::read;

namespace {

const std::string strong = "dataset: cora\nscheme: mg-gcn\nscaling: {strong: [1, 2, 4]}\n";
const std::string weak =
    "dataset: {generate: dcsbm, vertices: 1000}\nscheme: mg-gcn\nscaling: {weak: [1, 2, 4], per: vertices}\n";

/// "1: dcsbm-1000, 2: dcsbm-2000"
std::string shown(const Experiment& e) {
    std::string text;
    for (const Cell& c : e.cells)
        text += (text.empty() ? "" : ", ") + std::to_string(c.gpus) + ": " + c.dataset.name;
    return text;
}

}  // namespace

TEST_CASE("strong scaling is a list of GPUs, and declared") {
    const Experiment e = read(strong);
    CHECK(shown(e) == "1: cora, 2: cora, 4: cora");
    CHECK(e.scaling == ScalingAxis{ScalingAxis::Kind::strong});
    REQUIRE(e.axes.size() == 1);
    CHECK(e.axes[0].key == "gpus");
    CHECK(read("dataset: cora\nscheme: mg-gcn\ngpus: [1, 2, 4]\n").scaling == ScalingAxis{});
    // The same cells as those of the list: what was measured there counts here.
    CHECK(cell_digest(e.cells[1]) == cell_digest(read("dataset: cora\nscheme: mg-gcn\ngpus: 2\n").cells[0]));
}

TEST_CASE("weak scaling multiplies a parameter of the dataset by the GPUs") {
    const Experiment e = read(weak);
    CHECK(shown(e) == "1: dcsbm-1000, 2: dcsbm-2000, 4: dcsbm-4000");
    CHECK(e.scaling == ScalingAxis{ScalingAxis::Kind::weak, "vertices"});
    CHECK((*e.cells[2].dataset.source)["vertices"] == 4000);
    CHECK((*e.cells[2].dataset.source)["features"] == 64);
    CHECK(cell_digest(e.cells[1]) ==
          cell_digest(read("dataset: {generate: dcsbm, vertices: 2000}\nscheme: mg-gcn\ngpus: 2\n").cells[0]));
}

TEST_CASE("weak scaling multiplies with other lists, several datasets and seeds, and tells names apart") {
    CHECK(read(weak + "matrix: {seed: [0, 1]}\n").cells.size() == 6);
    CHECK(shown(read(
              "dataset:\n- {generate: dcsbm, vertices: 10}\n- {generate: grid, vertices: 20}\nscheme: mg-gcn\n"
              "scaling: {weak: [1, 3], per: vertices}\n")) == "1: dcsbm-10, 3: dcsbm-30, 1: grid-20, 3: grid-60");
    CHECK(shown(read("dataset: {generate: dcsbm, name: web, vertices: 10}\nscheme: mg-gcn\n"
                     "scaling: {weak: [1, 3], per: vertices}\n")) == "1: web-10, 3: web-30");
    CHECK(read("dataset: {generate: dcsbm, vertices: 10, seed: [1, 2]}\nscheme: mg-gcn\n"
               "scaling: {weak: [1, 3], per: vertices}\n")
              .cells.size() == 4);
    // Of numbers that are none of integers, too.
    CHECK((*read("dataset: {generate: dcsbm, name: web, average_degree: 2.5}\nscheme: mg-gcn\n"
                 "scaling: {weak: [1, 3], per: average_degree}\n")
                .cells.at(1)
                .dataset.source)["average_degree"] == 7.5);
}

TEST_CASE("numbers of GPUs given later replace the axis, and an axis given later replaces them") {
    CHECK(shown(read(strong, {"gpus=8"})) == "8: cora");
    CHECK(read(strong, {"gpus=8"}).scaling == ScalingAxis{});
    CHECK(shown(read(weak, {"gpus=2"})) == "2: dcsbm-1000");
    CHECK(shown(read("dataset: cora\nscheme: mg-gcn\ngpus: 8\n", {"scaling.strong=[1, 2]"})) ==
          "1: cora, 2: cora");
    CHECK(shown(read("dataset: cora\nscheme: mg-gcn\nmatrix: {gpus: [8, 16]}\n", {"scaling={strong: [1]}"})) ==
          "1: cora");
    const std::string profiles = strong +
                                 "profiles: {one: {gpus: 1}, lists: {matrix: {gpus: [2]}}, "
                                 "more: {scaling: {strong: [8]}}}\n";
    CHECK(shown(read(profiles, {}, "one")) == "1: cora");
    CHECK(shown(read(profiles, {}, "lists")) == "2: cora");
    CHECK(shown(read(profiles, {}, "more")) == "8: cora");
}

TEST_CASE("what scaling cannot be is refused where it is written") {
    const std::string head = "dataset: {generate: dcsbm, vertices: 1000}\nscheme: mg-gcn\n";
    CHECK_THAT(complaint(head + "scaling: [1, 2]\n"),
               Contains("exp.yaml:3:10: scaling: expected {strong: [1, 2, 4]}") && Contains("found a list"));
    CHECK_THAT(complaint(head + "scaling: {strong: [1], weak: [1]}\n"), Contains("found both of strong and weak"));
    CHECK_THAT(complaint(head + "scaling: {per: vertices}\n"), Contains("found neither of strong and weak"));
    CHECK_THAT(complaint(head + "scaling: {strnog: [1]}\n"), Contains("scaling.strnog") && Contains("'strong'?"));
    CHECK_THAT(complaint(head + "scaling: {strong: 4}\n"), Contains("expected a list of numbers of GPUs"));
    CHECK_THAT(complaint(head + "scaling: {strong: []}\n"), Contains("found an empty list"));
    CHECK_THAT(complaint(head + "scaling: {strong: [1, 0]}\n"),
               Contains("3:23: gpus: expected an integer between 1"));
    CHECK_THAT(complaint(head + "scaling: {strong: [1], per: vertices}\n"), Contains("nothing grows"));
    CHECK_THAT(complaint(head + "scaling: {weak: [1, 2]}\n"),
               Contains("scaling.per: expected the dataset's parameter"));
    CHECK_THAT(complaint(head + "scaling: {weak: [1, x], per: vertices}\n"),
               Contains("gpus: expected an integer"));
    CHECK_THAT(complaint(head + "scaling: {weak: [1, 2], per: edges}\n"),
               Contains("1:10: scaling.per: the dataset does not give edges"));
    CHECK_THAT(complaint(head + "gpus: 2\nscaling: {weak: [1, 2], per: vertices}\n"),
               Contains("gpus: given twice"));
    CHECK_THAT(complaint(head + "gpus: 2\nscaling: {strong: [1, 2]}\n"), Contains("gpus: given twice"));
    CHECK_THAT(complaint("dataset: cora\nscheme: mg-gcn\nscaling: {weak: [1, 2], per: vertices}\n"),
               Contains("weak scaling is of datasets that can be made of any size"));
    CHECK_THAT(complaint("scheme: mg-gcn\nscaling: {weak: [1, 2], per: vertices}\n"),
               Contains("dataset: required"));
    CHECK_THAT(complaint("dataset: {generate: dcsbm, vertices: 9000000000000000000}\nscheme: mg-gcn\n"
                         "scaling: {weak: [1, 4], per: vertices}\n"),
               Contains("dataset.vertices"));
    CHECK_THAT(complaint(head + "matrix: {scaling: {strong: [1]}}\n"), Contains("matrix.scaling: unknown key"));
}
