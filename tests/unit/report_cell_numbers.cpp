// A place's number from several cells, and quotients of such numbers.
#include <cmath>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "report_table_samples.hpp"

using namespace gnnbench;
using namespace gnnbench::samples;
using Catch::Contains;

TEST_CASE("several cells in one place are a remark, not a number") {
    Sample s = sample();
    s.add("a", 1, {0.1});
    s.add("a", 2, {0.2});
    const std::string text = s.render_as(definition("rows: [x]\ncolumns: {over: scheme, values: [a]}\n"));
    CHECK_THAT(text, Contains("2 cells match this place") && Contains("x    |      a\n"));
    const std::string least = s.render_as(
        definition("rows: [x]\ncolumns: [{name: a, where: {scheme: a}, cell: {over_cells: minimum}}]\n"));
    CHECK_THAT(least, Contains("x    |  100"));
}

TEST_CASE("speed-up over another cell, and relative to it") {
    Sample s = sample();
    s.add("a", 1, {0.006});
    s.add("a", 2, {0.002});
    const std::string by =
        "rows: [{name: over, cell: {speed_up_over: {gpus: 1}}}, {name: to, cell: {relative_to: {gpus: 1}}}]\n"
        "columns: [{name: x, where: {scheme: a, gpus: 2, dataset: d, model.hidden: 64}}]\n";
    const std::string text = s.render_as(definition(by, "t,over,x,2,×,p. 1,2,\n"));
    CHECK_THAT(text, Contains("over | 3.00      2   1.50\n") && Contains("to   | 0.33\n"));
    CHECK_THAT(s.render_as(definition("rows: [{name: over, cell: {speed_up_over: {gpus: 8}}}]\ncolumns: [{name: "
                                      "x, where: {scheme: a, gpus: 2}}]\n")),
               Contains("over |\n"));
}

TEST_CASE("the geometric mean of quotients is that of the cells' over that of the others'") {
    Sample s = sample();
    s.add("a", 1, {0.002});
    s.add("a", 2, {0.016});
    s.add("b", 1, {0.001});
    s.add("b", 2, {0.002});
    const std::string text = s.render_as(definition(
        "rows: [r]\ncolumns: [{name: x, where: {scheme: a}, cell: {over_cells: geometric_mean, relative_to: "
        "{scheme: b}}}]\n"));
    CHECK_THAT(text, Contains("r    | 4.00"));
}

TEST_CASE("a quotient over several graphs is of those that both sides have") {
    Sample s = sample();
    const auto add = [&](const std::string& scheme, const std::string& graph, std::vector<double> trials_s) {
        s.add(scheme, 1, std::move(trials_s), "oom");
        s.measured.cells.back().fields["dataset"] = graph;
    };
    add("a", "g", {0.002});
    add("b", "g", {0.001});
    add("b", "h", {0.008});
    const auto shown = [&] {
        return s.render_as(
            definition("rows: [r]\ncolumns: [{name: x, where: {scheme: a}, cell: {over_cells: "
                       "geometric_mean, relative_to: {scheme: b}}}]\n"));
    };
    CHECK_THAT(shown(), Contains("r    | 2.00") && Contains("1 of 2 cells have no number"));
    add("a", "h", {});  // out of memory
    CHECK_THAT(shown(), Contains("r    | 2.00") && Contains("1 of 2 cells have no number"));
    s.measured.cells.pop_back();
    add("a", "h", {0.016});
    CHECK_THAT(shown(), Contains("r    | 2.00") && !Contains("no number"));
}

TEST_CASE("numbers of graphs are one for each graph") {
    Sample s = sample();
    for (const char* graph : {"g", "h"})
        for (const int gpus : {1, 2}) {
            s.add("a", gpus, {graph == std::string("g") ? 0.1 : 0.3});
            s.measured.cells.back().fields["dataset"] = graph;
        }
    const auto shown = [&](const std::string& more) {
        return s.render_as(definition(
            "rows: [r]\ncolumns: [{name: x, where: {scheme: a}, cell: {metric: vertices" + more + "}}]\n"));
    };
    CHECK_THAT(shown(""), Contains("2 cells match this place"));
    CHECK_THAT(shown(", over_cells: mean"), Contains("r    | 0.2") && !Contains("no number"));
}

TEST_CASE("a mean over draws has an interval of two standard errors, one over other cells none") {
    for (const bool draws : {true, false}) {
        Sample s = sample();
        int number = 0;
        for (const double time_s : {0.2, 0.4, 0.3, 0.3}) {
            s.add("a", 1, {time_s});
            s.measured.cells.back().fields[draws ? "seed" : "dataset"] = std::to_string(++number);
        }
        const ResolvedTable r =
            resolve(definition("rows: [r]\ncolumns: [{name: x, where: {scheme: a}, cell: {over_cells: mean}}]\n"),
                    s.measured, "small",
                    [&](std::int64_t trial, const Measure&) { return std::optional(s.times_s.at(trial)); });
        const Estimate& e = *r.cells[0][0].ours;
        CHECK(e.median == Approx(0.3));
        const double error = draws ? 2 * std::sqrt(0.02 / 3 / 4) : 0;
        CHECK(e.low == Approx(0.3 - error));
        CHECK(e.high == Approx(0.3 + error));
        CHECK_FALSE(e.has_interval());
    }
}

TEST_CASE("a quotient over draws has two standard errors of itself, those of one seed set against each other") {
    Sample s = sample();
    const auto draw = [&](const char* scheme, double time_s, int seed) {
        s.add(scheme, 1, {time_s});
        s.measured.cells.back().fields["seed"] = std::to_string(seed);
    };
    const double a[] = {0.2, 0.4, 0.3}, b[] = {0.1, 0.2, 0.15};
    for (int i = 0; i < 3; ++i) draw("a", a[i], i), draw("b", b[i], i);
    const auto quotient = [&](const std::string& against) {
        const ResolvedTable r =
            resolve(definition("rows: [r]\ncolumns: [{name: x, where: {scheme: a}, cell: {over_cells: mean, " +
                               against + ": {scheme: b}}}]\n"),
                    s.measured, "small",
                    [&](std::int64_t trial, const Measure&) { return std::optional(s.times_s.at(trial)); });
        return *r.cells[0][0].ours;
    };
    CHECK(quotient("relative_to").low == Approx(2));  // twice as long, draw for draw
    CHECK(quotient("relative_to").high == Approx(2));
    CHECK(quotient("speed_up_over").high == Approx(0.5));
    draw("b", 0.15, 9);  // the sides are over other draws: as if nothing were known of what they have in common
    CHECK(quotient("relative_to").low < 1.7);
}

TEST_CASE("a quotient has the bounds that its sides' intervals give, and the fewer trials") {
    Sample s = sample();
    s.add("a", 1, {0.010, 0.012, 0.008});
    s.add("b", 1, {0.004, 0.005, 0.003, 0.004});
    const TableDefinition t =
        definition("rows: [r]\ncolumns: [{name: x, where: {scheme: a}, cell: {relative_to: {scheme: b}}}]\n");
    const ResolvedTable r = resolve(t, s.measured, "small", [&](std::int64_t trial, const Measure&) {
        return std::optional(s.times_s.at(trial));
    });
    const Estimate& e = *r.cells[0][0].ours;
    const Estimate a = estimate(std::vector<double>{0.010, 0.012, 0.008}),
                   b = estimate(std::vector<double>{0.004, 0.005, 0.003, 0.004});
    CHECK(e.median == Approx(2.5));
    CHECK(e.low == Approx(a.low / b.high));
    CHECK(e.high == Approx(a.high / b.low));
    CHECK(e.trials == 3);
    CHECK_FALSE(e.has_interval());  // tables show none beside a quotient
}

TEST_CASE("what ran out of memory was not on the paper's graph where that was generated") {
    Sample s = sample();
    s.add("a", 1, {}, "oom");
    const TableDefinition t =
        definition("rows: [r]\ncolumns: [{name: x, where: {scheme: a, dataset: d, model.hidden: 64, gpus: 1}}]\n");
    const auto is_papers = [&] {
        return resolve(t, s.measured, "paper",
                       [](std::int64_t, const Measure&) { return std::optional<double>(); })
            .cells[0][0]
            .papers_setting;
    };
    CHECK(is_papers());
    s.measured.cells[0].fields["dataset.generate"] = "dcsbm";
    CHECK_FALSE(is_papers());
}
