// What names cells that share dataset, scheme, partitioner and GPUs.
#include "spec/distinctions.hpp"
#include "spec_fakes.hpp"

using namespace gnnbench;
using gnnbench::test::read;

namespace {

/// "layers gcn, heads 1" of each cell.
std::vector<std::string> texts(const std::string& rest) {
    const Experiment e = read("dataset: {generate: dcsbm}\nscheme: [serial, mg-gcn]\n" + rest);
    std::vector<const Cell*> cells;
    for (const Cell& c : e.cells) cells.push_back(&c);
    const VaryingFields varying = distinctions(cells);
    std::vector<std::string> all;
    for (const auto& values : varying.values) all.push_back(named_values(varying.names, values));
    return all;
}

}  // namespace

TEST_CASE("cells that their labels tell apart need no more") {
    for (const std::string& text : texts("gpus: [1, 2]\npartitioner: [metis, random]\n")) CHECK(text.empty());
}

TEST_CASE("what varies between cells of the same labels is named") {
    using All = std::vector<std::string>;
    CHECK(texts("model: {hidden: [8]}\nmatrix: {train.lr: [0.1, 1]}\n") ==
          All{"lr 0.1", "lr 1", "lr 0.1", "lr 1"});
    CHECK(texts("matrix: {model: [{layers: gat, heads: 4}, {layers: gat, heads: 8}]}\n") ==
          All{"heads 4", "heads 8", "heads 4", "heads 8"});
    CHECK(texts("matrix: {kernel: [cpu, cuda]}\n") ==
          All{"kernel cpu", "kernel cuda", "kernel cpu", "kernel cuda"});
    CHECK(texts("matrix: {seed: [0, 1], model.hidden: [[8], [8, 4]]}\n").at(1) == "hidden 8,4, seed 0");
}

TEST_CASE("defaults that follow from what varies are not named") {
    using All = std::vector<std::string>;
    CHECK(texts("matrix: {model.layers: [gcn, sage]}\n") ==
          All{"layers gcn", "layers sage", "layers gcn", "layers sage"});
    CHECK(texts("matrix: {train.dropout: [0, 0.5]}\n").at(1) == "dropout 0.5");
    // Where they vary by themselves, they are.
    CHECK(texts("matrix: {train.input_dropout: [0, 0.5]}\n").at(1) == "input_dropout 0.5");
    CHECK(texts("matrix: {threads_per_rank: [1, 2]}\n").at(1) == "threads_per_rank 2");
}

TEST_CASE("a list of seeds of a generated graph is named") {
    const Experiment e = read("dataset: {generate: dcsbm, seed: [1, 2]}\nscheme: serial\n");
    std::vector<const Cell*> cells;
    for (const Cell& c : e.cells) cells.push_back(&c);
    const VaryingFields varying = distinctions(cells);
    CHECK(named_values(varying.names, varying.values.at(1)) == "seed 2");
}
