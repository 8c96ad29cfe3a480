// What people and programs write: experiments, tables, expressions, lines.
#include <unit/spec_fakes.hpp>

#include "data/profile.hpp"
#include "fuzz/damage.hpp"
#include "record/cell_filter.hpp"
#include "spec/table_definition.hpp"
#include "worker/program_line.hpp"

using namespace gnnbench;
using namespace gnnbench::test;

TEST_CASE("damaged experiments") {
    attack("an experiment",
           "name: sample\n"
           "dataset: {generate: dcsbm, vertices: 2000, average_degree: 4.5}\n"
           "model: {layers: gcn, hidden: [16, 16], activation: relu}\n"
           "matrix:\n"
           "  scheme: [serial, {name: mg-gcn, overlap: false}]\n"
           "  gpus: [1, 2]\n"
           "  include: [{scheme: square, gpus: 4}]\n"
           "  exclude: [{where: \"scheme = 'serial' AND gpus > 1\", reason: one rank}]\n"
           "partitioner: {name: metis, imbalance: 0.1}\n"
           "kernel: cpu\nepochs: 3\ntrials: 2\n"
           "profiles: {small: {epochs: 1}}\n",
           [](const std::string& text) { read(text); });
}

TEST_CASE("damaged tables of papers") {
    attack("a table",
           "title: Times\nsource: Table 1\nrows: [one, two]\n"
           "columns:\n  - {name: ms, where: {gpus: 2}, cell: {metric: epoch_s}}\n",
           [](const std::string& text) {
               read_table_definition(
                   text, "papers/t.yaml",
                   "table,row,column,value,unit,page,verbatim,erratum\nt,one,ms,3,,p. 4,3 ms,\n");
           });
}

TEST_CASE("damaged expressions over cells") {
    const std::vector<CellFields> cells = {{{"gpus", std::int64_t{2}}, {"scheme", std::string("mg-gcn")}},
                                           {{"gpus", std::int64_t{4}}, {"scheme.overlap", std::int64_t{1}}}};
    const CellFilter filter(cells);
    attack("an expression", "scheme = 'mg-gcn' AND (gpus > 2 OR scheme.overlap) AND gpus IN (1, 2, 4)",
           [&](const std::string& text) { filter.where(text); });
}

TEST_CASE("damaged profiles of datasets") {
    const auto generated = [](const std::string& text) {
        const Profile p = read_profile(text, "mine.json");
        profile_degrees(p, 1, std::min<std::int64_t>(p.vertices, 10000));
    };
    attack(
        "a measured profile",
        R"({"name": "mine", "about": "a square", "vertices": 4, "measured": [[1, 2, 0], [2, 2, 0.5]], "features": 2,)"
        R"( "classes": 2, "split": {"train": 1, "validation": 1, "test": 1}, "sources": ["here"], "assumptions": []})",
        generated);
    attack(
        "a fitted profile",
        R"({"name": "mine", "about": "", "vertices": 500, "log_normal": {"mean": 9, "spread": 1.5, "largest": 90,)"
        R"( "clustering": 0.2, "largest_clustering": 0.9}, "features": 0, "classes": 9, "labels_per_vertex": 2,)"
        R"( "sources": [], "assumptions": []})",
        generated);
}

TEST_CASE("damaged lines of programs") {
    attack("an epoch's line",
           R"({"epoch": 3, "loss": 0.5, "wall_s": 1e-3, "phases": {"spmm": 0.1}, "peak_memory_bytes": 5})",
           [](const std::string& text) { read_program_line(text); });
}
