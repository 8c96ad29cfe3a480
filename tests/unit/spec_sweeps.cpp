// zip, exclude, include, imports and profiles.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "spec/experiment_names.hpp"
#include "spec_fakes.hpp"

using namespace gnnbench;
using Catch::Contains;
using gnnbench::test::complaint;
using gnnbench::test::read;

namespace {

const std::string head = "dataset: cora\n";

/// "mg-gcn 2 e20" for each cell, in order.
std::string cells(const Experiment& e) {
    std::string all;
    for (const Cell& c : e.cells)
        all += (all.empty() ? "" : "; ") + c.scheme.label + " " + std::to_string(c.gpus) +
               (c.epochs == 20 ? "" : " e" + std::to_string(c.epochs));
    return all;
}
std::string cells(const std::string& text) { return cells(read(head + text)); }

/// Files that import one another.
struct Files {
    std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("gnnbench-imports-" + std::to_string(getpid()));
    Files() { std::filesystem::create_directories(folder / "deep"); }
    ~Files() { std::filesystem::remove_all(folder); }
    void write(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }
    std::string path(const std::string& name) const { return (folder / name).string(); }
};

}  // namespace

TEST_CASE("what a zip cannot be") {
    const std::string s = head + "scheme: mg-gcn\n";
    CHECK_THAT(complaint(s + "matrix: {zip: 3}\n"),
               Contains("exp.yaml:3:15: matrix.zip: expected a mapping of keys"));
    CHECK_THAT(complaint(s + "matrix: {zip: {gpus: 3}}\n"),
               Contains("matrix.zip.gpus: expected a list; found the integer 3"));
    CHECK_THAT(complaint(s + "matrix: {zip: {gpus: [1, 2], seed: [1]}}\n"),
               Contains("exp.yaml:3:36: matrix.zip.seed: zipped lists must have the same length; found 1 "
                        "values, and 2 in 'gpus'"));
    CHECK_THAT(complaint(s + "matrix: {zip: {gpu: [1, 2]}}\n"),
               Contains("matrix.zip.gpu: unknown key") && Contains("did you mean 'gpus'?"));
    CHECK_THAT(complaint(s + "gpus: 2\nmatrix: {zip: {gpus: [1, 2], seed: [1, 2]}}\n"), Contains("given twice"));
    CHECK_THAT(complaint(s + "matrix: {zip: {trials: [1, 2]}}\n"), Contains("cannot vary"));
    CHECK_THAT(complaint(s + "matrix: {zip: {gpus: [1, x]}}\n"),
               Contains("exp.yaml:3:26: gpus: expected an integer"));
}

TEST_CASE("zipped lists go together and multiply with the others") {
    const Experiment e =
        read(head + "matrix:\n  zip: {gpus: [2, 4], epochs: [5, 9]}\n  scheme: [mg-gcn, cagnet-1d]\n");
    CHECK(cells(e) == "mg-gcn 2 e5; cagnet-1d 2 e5; mg-gcn 4 e9; cagnet-1d 4 e9");
    CHECK(e.axes.at(0).key == "gpus, epochs");
    CHECK(e.axes.at(0).values.at(1) == "4, 9");
    CHECK(e.combinations == 4);
    CHECK(
        cells("scheme: mg-gcn\nmatrix:\n  zip:\n  - {gpus: [2, 4], seed: [1, 2]}\n  - {train: [{lr: 1}, {lr: 2}], "
              "epochs: [3, 4]}\n") == "mg-gcn 2 e3; mg-gcn 2 e4; mg-gcn 4 e3; mg-gcn 4 e4");
    // An override takes its key out of the zip.
    CHECK(cells(read(head + "scheme: mg-gcn\nmatrix: {zip: {gpus: [2, 4], epochs: [5, 9]}}\n", {"gpus=3"})) ==
          "mg-gcn 3 e5; mg-gcn 3 e9");
}

TEST_CASE("what exclude and include cannot be") {
    const std::string s = head + "matrix:\n  scheme: [mg-gcn, cagnet-1d]\n  gpus: [2, 4]\n";
    CHECK_THAT(complaint(s + "  exclude: gpus\n"),
               Contains("exp.yaml:5:12: matrix.exclude: expected a mapping of keys"));
    CHECK_THAT(complaint(s + "  exclude: [{where: gpu > 2}]\n"),
               Contains("exp.yaml:5:21: matrix.exclude.where: expected an expression over a cell's fields") &&
                   Contains("there is no field 'gpu' (at its character 1)") && Contains("did you mean 'gpus'?"));
    CHECK_THAT(complaint(s + "  exclude: {where: 3}\n"),
               Contains("expected an expression over a cell's fields; found"));
    CHECK_THAT(complaint(s + "  exclude: {reason: too slow}\n"), Contains("found a reason only"));
    CHECK_THAT(complaint(s + "  exclude: {gpus: [2]}\n"), Contains("gpus: expected an integer"));
    CHECK_THAT(complaint(s + "  exclude: {gpu: 2}\n"), Contains("matrix.exclude.gpu: unknown key"));
    CHECK_THAT(complaint(s + "  exclude: {where: gpus > 0}\n"), Contains("every cell is excluded"));
    CHECK_THAT(complaint(s + "  include: {trials: 2}\n"), Contains("matrix.include.trials: this key cannot vary"));
    CHECK_THAT(
        complaint(s + "  include: {gpus: 8}\n"),
        Contains("exp.yaml:5:12: matrix.include: matches no cell of the lists") && Contains("'scheme' too"));
    CHECK_THAT(complaint(s + "  include: {}\n"), Contains("an empty mapping"));
}

TEST_CASE("exclude leaves out by values and by expression") {
    const std::string s = "matrix:\n  scheme: [serial, mg-gcn, {name: mg-gcn, overlap: false}]\n  gpus: [1, 4]\n";
    CHECK(cells(s + "  exclude: {scheme: serial, gpus: 4}\n") ==
          "serial 1; mg-gcn 1; mg-gcn 4; mg-gcn(overlap=false) 1; mg-gcn(overlap=false) 4");
    CHECK(cells(s + "  exclude: {scheme: mg-gcn}\n") == "serial 1; serial 4");
    CHECK(cells(s + "  exclude: {scheme: {name: mg-gcn, overlap: false}}\n") ==
          "serial 1; serial 4; mg-gcn 1; mg-gcn 4");
    CHECK(cells(s + "  exclude: [{scheme: serial}, {where: NOT scheme.overlap}]\n") == "mg-gcn 1; mg-gcn 4");
    CHECK(cells(s + "  exclude: {gpus: 4, where: \"scheme IN ('serial', 'x')\"}\n") ==
          "serial 1; mg-gcn 1; mg-gcn 4; mg-gcn(overlap=false) 1; mg-gcn(overlap=false) 4");
    CHECK(cells(s + "  exclude: {epochs: 20, gpus: 4}\n") == "serial 1; mg-gcn 1; mg-gcn(overlap=false) 1");
    CHECK(cells(s + "  exclude: {epochs: 21}\n") == cells(s));
    CHECK(cells(s + "  exclude: []\n") == cells(s));

    const Experiment e =
        read(head + s + "  exclude: {where: scheme = 'serial' AND gpus > 1, reason: it has one rank}\n");
    REQUIRE(e.excluded.size() == 1);
    CHECK(e.excluded[0].cell.gpus == 4);
    CHECK(e.excluded[0].reason == "it has one rank");
    CHECK(e.excluded[0].place.line == 5);
    CHECK(e.cells.size() == 5);
}

TEST_CASE("include adds to the cells that agree, else a cell of its own, after exclude") {
    const std::string s = "matrix:\n  scheme: [mg-gcn, cagnet-1d]\n  gpus: [2, 4]\n";
    CHECK(cells(s + "  include: {scheme: mg-gcn, epochs: 50}\n") ==
          "mg-gcn 2 e50; mg-gcn 4 e50; cagnet-1d 2; cagnet-1d 4");
    CHECK(cells(s + "  include: {epochs: 50}\n") ==
          "mg-gcn 2 e50; mg-gcn 4 e50; cagnet-1d 2 e50; cagnet-1d 4 e50");
    CHECK(cells(s + "  include: [{gpus: 4, epochs: 50}, {scheme: mg-gcn, epochs: 60}]\n") ==
          "mg-gcn 2 e60; mg-gcn 4 e60; cagnet-1d 2; cagnet-1d 4 e50");
    CHECK(cells(s + "  include: {scheme: mg-gcn, gpus: 8}\n") ==
          "mg-gcn 2; mg-gcn 4; cagnet-1d 2; cagnet-1d 4; mg-gcn 8");
    CHECK(cells(s + "  include: {scheme: mg-gcn, gpus: 4}\n") == "mg-gcn 2; mg-gcn 4; cagnet-1d 2; cagnet-1d 4");
    // What was excluded can come back.
    CHECK(cells(s + "  exclude: {gpus: 4}\n  include: {scheme: mg-gcn, gpus: 4, epochs: 7}\n") ==
          "mg-gcn 2; cagnet-1d 2; mg-gcn 4 e7");
    // What the lists vary and the new cell does not say has its default.
    CHECK(cells(s + "  epochs: [3]\n  include: {scheme: serial, gpus: 1}\n") ==
          "mg-gcn 2 e3; mg-gcn 4 e3; cagnet-1d 2 e3; cagnet-1d 4 e3; serial 1");
    CHECK(cells("scheme: mg-gcn\nepochs: 5\nmatrix: {include: [{epochs: 6}]}\n") == "mg-gcn 1 e6");
}

TEST_CASE("what imports and profiles cannot be") {
    const Files files;
    const std::string s = head + "scheme: mg-gcn\n";
    CHECK_THAT(complaint(s + "imports: 3\n"), Contains("exp.yaml:3:10: imports: expected a file's path"));
    CHECK_THAT(complaint(s + "imports: [none.yaml]\n"),
               Contains("exp.yaml:3:11: imports: expected a file at ") && Contains("No such file"));
    files.write("a.yaml", "imports: b.yaml\n");
    files.write("b.yaml", "imports: deep/../a.yaml\n");
    CHECK_THAT(complaint(s + "imports: a.yaml\n", {}, "", files.path("exp.yaml")),
               Contains("b.yaml:1:10: imports: 'deep/../a.yaml' imports itself"));
    files.write("c.yaml", "epoch: 3\n");
    CHECK_THAT(complaint(s + "imports: c.yaml\n", {}, "", files.path("exp.yaml")),
               Contains("c.yaml:1:1: epoch: unknown key"));
    files.write("d.yaml", "[1]\n");
    CHECK_THAT(complaint(s + "imports: d.yaml\n", {}, "", files.path("exp.yaml")), Contains("expected a mapping"));

    CHECK_THAT(complaint(s + "profiles: [small]\n"), Contains("exp.yaml:3:11: profiles: expected a mapping"));
    CHECK_THAT(complaint(s + "profiles: {small: 3}\n"), Contains("profiles.small: expected a mapping"));
    CHECK_THAT(complaint(s + "profiles: {a/b: {gpus: 2}}\n"), Contains("profiles.a/b: expected a name"));
    CHECK_THAT(complaint(s + "profiles: {small: {profile: x}}\n"), Contains("cannot stand inside a profile"));
    CHECK_THAT(
        complaint(s + "profiles: {small: {gpus: 2}}\nprofile: smal\n"),
        Contains("exp.yaml:4:10: profile: expected one of the profiles") && Contains("did you mean 'small'?"));
    CHECK_THAT(complaint(s + "profiles: {small: {gpu: 2}}\nprofile: small\n"),
               Contains("exp.yaml:3:20: gpu: unknown key"));
    CHECK_THROWS_WITH(read(s, {}, "small"),
                      Contains("--profile small: exp.yaml has no such profile; allowed: nothing"));
    CHECK_THROWS_WITH(read(s + "profiles: {paper: {gpus: 2}}\n", {}, "papr"), Contains("did you mean 'paper'?"));
}

TEST_CASE("imports that fan out are read once each, and there is a limit that is named") {
    const Files files;
    const int depth = 41;
    for (int i = 0; i + 1 < depth; ++i) {
        const std::string next = "fan" + std::to_string(i + 1) + ".yaml";
        files.write("fan" + std::to_string(i) + ".yaml", "imports: [" + next + ", " + next + "]\n");
    }
    files.write("fan40.yaml", "epochs: 7\n");
    const Experiment e = read(head + "scheme: mg-gcn\nimports: fan0.yaml\n", {}, "", files.path("exp.yaml"));
    CHECK(e.cells.at(0).epochs == 7);
    std::size_t texts = 0;
    for (std::size_t at = 0; (at = e.text.find("# imported from", at)) != std::string::npos; ++at) ++texts;
    CHECK(texts == usize(depth));
    for (int i = 0; i < 250; ++i)
        files.write("c" + std::to_string(i) + ".yaml", "imports: c" + std::to_string(i + 1) + ".yaml\n");
    CHECK_THAT(complaint(head + "scheme: mg-gcn\nimports: c0.yaml\n", {}, "", files.path("exp.yaml")),
               Contains("imports at most 200 files"));
}

TEST_CASE("nothing of another program's file is repeated") {
    const Files files;
    files.write("passwd", "root:x:0:0:secret:/root:/bin/sh\ndaemon:x:1:1:daemon:/:/bin/sh\n");
    files.write("token.yaml", "password: secret\npassword: twice-secret\nuser: root\n");
    files.write("shadow", "root: *secret\n");
    for (const char* name : {"passwd", "token.yaml", "shadow"}) {
        INFO(name);
        const std::string importing =
            complaint(head + "scheme: mg-gcn\nimports: " + name + "\n", {}, "", files.path("exp.yaml"));
        std::ifstream in(files.folder / name);
        const std::string itself = complaint({std::istreambuf_iterator<char>(in), {}});
        for (const std::string& said : {importing, itself}) {
            CHECK_THAT(said, Contains("expected") || Contains("none of its keys is an experiment's"));
            CHECK_THAT(said, !Contains("secret") && !Contains("root") && !Contains("daemon"));
        }
    }
}

TEST_CASE("thousands of rules on thousands of cells end, and more are refused with the limit") {
    std::string rules, seeds;
    for (int i = 0; i < 3000; ++i) {
        seeds += (i ? ", " : "") + std::to_string(i);
        rules += "  - {seed: " + std::to_string(i) + ", gpus: 2}\n";
    }
    const std::string lists = head + "scheme: mg-gcn\ngpus: 2\nmatrix:\n  seed: [" + seeds + ", 3000]\n";
    CHECK(read(lists + "  exclude:\n" + rules).cells.size() == 1);
    CHECK(read(lists + "  include:\n" + rules).cells.size() == 3001);
    std::string many;
    for (int i = 0; i < 34'000; ++i) many += "  - {seed: 1}\n";
    CHECK_THAT(complaint(lists + "  exclude:\n" + many),
               Contains("34000 rules for 3001 cells are more than 100000000 pairs"));
}

TEST_CASE("a file's keys lie over those it imports, with paths from where they are written") {
    const Files files;
    files.write("deep/graph.tsv", "0 1\n");
    files.write("deep/data.yaml", "name: data\ndataset: {path: graph.tsv}\ntrain: {lr: 0.5, dropout: 0.25}\n");
    files.write("base.yaml",
                "imports: deep/data.yaml\nmatrix: {scheme: [mg-gcn, cagnet-1d], gpus: [2, 4]}\nepochs: 5\n");
    const auto load = [&](const std::string& text) { return read(text, {}, "", files.path("mine.yaml")); };
    Experiment e = load("imports: [base.yaml]\ngpus: 3\ntrain: {lr: 0.1}\n");
    CHECK(e.name == "mine");
    CHECK(cells(e) == "mg-gcn 3 e5; cagnet-1d 3 e5");
    CHECK(e.cells[0].train.learning_rate == 0.1);
    CHECK(e.cells[0].train.dropout == 0.25);
    CHECK(e.cells[0].dataset.source->at("path") == files.path("deep/graph.tsv"));
    CHECK(e.origins.at("epochs") == files.path("base.yaml") + ":3:9");
    CHECK_THAT(e.text,
               Contains("imports: [base.yaml]") && Contains("# imported from base.yaml\n") && Contains("lr: 0.5"));
    // What the importing file lets vary is fixed no more; of two imports the later wins.
    files.write("more.yaml", "scheme: serial\ntrain: {lr: 0.7}\n");
    CHECK(cells(load("imports: [base.yaml, more.yaml]\nmatrix: {epochs: [1, 2]}\n")) ==
          "serial 2 e1; serial 2 e2; serial 4 e1; serial 4 e2");
    CHECK(load("imports: [base.yaml, more.yaml]\n").cells[0].train.learning_rate == 0.7);
}

TEST_CASE("a file's experiments are named with the profiles that it imports") {
    const Files files;
    files.write("base.yaml", "dataset: cora\nprofiles: {small: {epochs: 2}, big: {name: large}}\n");
    files.write("top.yaml", "imports: base.yaml\nname: top\nprofiles: {tiny: {epochs: 1}}\n");
    CHECK(experiment_names(files.path("top.yaml")) ==
          std::vector<std::string>{"top", "top-small", "large", "top-tiny"});
    files.write("broken.yaml", "imports: none.yaml\nname: top\nprofiles: {tiny: {epochs: 1}}\n");
    CHECK(experiment_names(files.path("broken.yaml")) == std::vector<std::string>{"top", "top-tiny"});
}

TEST_CASE("a profile lies over the experiment and names it") {
    const std::string s =
        "name: exp\ndataset: cora\nmatrix: {scheme: [mg-gcn, cagnet-1d], gpus: [2, 4]}\n"
        "profiles:\n  small: {epochs: 2, gpus: 2}\n  big: {matrix: {gpus: [8]}, name: mine}\n";
    CHECK(cells(read(s)) == "mg-gcn 2; mg-gcn 4; cagnet-1d 2; cagnet-1d 4");
    CHECK(read(s).name == "exp");
    CHECK(cells(read(s, {}, "small")) == "mg-gcn 2 e2; cagnet-1d 2 e2");
    CHECK(read(s, {}, "small").name == "exp-small");
    CHECK(read(s, {}, "small").profile == "small");
    CHECK(cells(read(s, {}, "big")) == "mg-gcn 8; cagnet-1d 8");
    CHECK(read(s, {}, "big").name == "mine");
    CHECK(cells(read(s + "profile: small\n")) == "mg-gcn 2 e2; cagnet-1d 2 e2");
    CHECK(cells(read(s + "profile: small\n", {"epochs=3"}, "big")) == "mg-gcn 8 e3; cagnet-1d 8 e3");
}
