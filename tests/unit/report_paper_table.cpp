// A paper's table from cells made by hand.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "record/database.hpp"
#include "record_samples.hpp"
#include "report/paper_table.hpp"
#include "report/table_render.hpp"
#include "report_samples.hpp"
#include "spec/metrics.hpp"

using namespace gnnbench;
using Catch::Contains;

namespace {

constexpr const char* head = "table,row,column,value,unit,page,verbatim,erratum\n";

/// Cells as read_measured gives them; a cell's trials are numbered on from its first, and have its times.
struct Sample {
    MeasuredCells measured;
    std::map<std::int64_t, double> times_s;

    void add(const std::string& scheme, int gpus, std::vector<double> trials_s, const std::string& status = "ok") {
        ComparisonCell c = samples::compared(scheme, gpus, "random", trials_s, 10);
        c.fields = {{"scheme", scheme}, {"gpus", std::to_string(gpus)}, {"dataset", "d"}};
        c.status = trials_s.empty() ? status : "ok";
        if (trials_s.empty()) c.reason = "why";
        for (const double t : trials_s) {
            const auto id = static_cast<std::int64_t>(times_s.size());
            times_s[id] = t;
            c.ok_trials.push_back(id);
        }
        measured.cells.push_back(std::move(c));
    }
    std::string render_as(const TableDefinition& t, OutputFormat format = OutputFormat::text) const {
        return render(paper_table(resolve(t, measured, "small",
                                          [&](std::int64_t trial, const std::string&) {
                                              return std::optional(times_s.at(trial));
                                          })),
                      format);
    }
};

TableDefinition definition(const std::string& more, const std::string& csv = "") {
    return read_table_definition(
        "title: T\nsource: S, Table 1\nexperiments: e\ncell: {metric: epoch_s, unit: ms}\nrow_head: GPUs\n" + more,
        "p/t.yaml", head + csv);
}

const std::string two_by_two = "rows: {over: gpus, values: [1, 2]}\ncolumns: {over: scheme, values: [a, b]}\n";

Sample sample() {
    Sample s;
    s.measured.machine = "Sample CPU, 4 cores";
    s.measured.kernels = "cpu";
    s.measured.experiments = {"e-small"};
    return s;
}

}  // namespace

TEST_CASE("a table of what was never measured has the paper's numbers and invents none") {
    const std::string text =
        sample().render_as(definition(two_by_two, "t,1,a,2,ms,p. 1,2,\nt,2,b,OOM,,p. 1,-,\n"));
    CHECK_THAT(text, Contains("T (S, Table 1)\nours: nothing measured yet; profile small: e-small\n"));
    CHECK_THAT(text, Contains("1    |           2        |\n2    |                    |         OOM\n"));
}

TEST_CASE("several cells in one place are a remark, not a number") {
    Sample s = sample();
    s.add("a", 1, {0.1});
    s.add("a", 2, {0.2});
    const std::string text = s.render_as(definition("rows: [x]\ncolumns: {over: scheme, values: [a]}\n"));
    CHECK_THAT(text, Contains("2 cells fit this place") && Contains("x    |      a\n"));
    const std::string least = s.render_as(
        definition("rows: [x]\ncolumns: [{name: a, where: {scheme: a}, cell: {over_cells: minimum}}]\n"));
    CHECK_THAT(least, Contains("x    |  100"));
}

TEST_CASE("ours, the paper's, their ratio, the best and what ended otherwise") {
    Sample s = sample();
    s.add("a", 1, {0.004, 0.004});
    s.add("b", 1, {0.002, 0.003});
    s.add("a", 2, {}, "oom");
    s.add("b", 2, {0.001});
    for (ComparisonCell& c : s.measured.cells) c.oversubscribed = c.fields["gpus"] == "2";
    const TableDefinition t =
        definition(two_by_two + "best: lowest\n", "t,1,a,0.002,s,p. 1,0.002,a slip\nt,2,a,7,ms,p. 1,7,\n");
    CHECK(s.render_as(t) == 1 + R"(
T (S, Table 1)
ours: Sample CPU, 4 cores; kernel cpu; profile small: e-small
all of ours: verified (loss and gradients as the serial float64 reference, bytes as stated);
  synthetic data (graph, features)
numbers in ms; ratio: ours ÷ paper; the lowest of ours in each row with *

     | a                      | b
GPUs | ours    paper    ratio | ours
1    | 4.00     2.00 a   2.00 | 2.50 ±0.50 *
2    |  OOM b      7          | 1.00       c

a  paper: a slip
b  oom: why
c  oversubscribed (more ranks × threads than cores: no scaling result)
)");
    const auto j = nlohmann::json::parse(s.render_as(t, OutputFormat::json));
    CHECK(j.at("cells")[0].at("ratio") == Approx(2));
    CHECK(j.at("cells")[0].at("published") == Approx(2));
    CHECK(j.at("cells")[0].at("erratum") == "a slip");
    CHECK(j.at("cells")[2].at("ours").is_null());
    CHECK(j.at("cells")[2].at("status") == "OOM");
    CHECK_THAT(s.render_as(t, OutputFormat::markdown), Contains("| 1 | 4.00 · paper 2.00 <sup>"));
}

TEST_CASE("speed-up over another cell, and relative to it") {
    Sample s = sample();
    s.add("a", 1, {0.006});
    s.add("a", 2, {0.002});
    const std::string by =
        "rows: [{name: over, cell: {speed_up_over: {gpus: 1}}}, {name: to, cell: {relative_to: {gpus: 1}}}]\n"
        "columns: [{name: x, where: {scheme: a, gpus: 2}}]\n";
    const std::string text = s.render_as(definition(by, "t,over,x,2,×,p. 1,2,\n"));
    CHECK_THAT(text, Contains("over | 3.00      2   1.50\n") && Contains("to   | 0.33\n"));
    CHECK_THAT(s.render_as(definition("rows: [{name: over, cell: {speed_up_over: {gpus: 8}}}]\ncolumns: [{name: "
                                      "x, where: {scheme: a, gpus: 2}}]\n")),
               Contains("over |\n"));
}

TEST_CASE("what a command counted stands beside the paper's, with its origin") {
    const TableDefinition t =
        read_table_definition("title: T\nsource: S\nrows: [a, b]\ncolumns: [x]\ncell: {decimals: 3}\n", "p/t.yaml",
                              head + std::string("t,a,x,2,,p. 1,2,\n"),
                              "table,row,column,value,unit,of,command,date,commit\nt,a,x,3.1234,,a ring "
                              "(synthetic),gnnbench count,2026-01-01,abc\n");
    const std::string text = sample().render_as(t);
    CHECK_THAT(text, Contains("a | 3.123 a      2   1.56\nb |\n"));
    CHECK_THAT(text, Contains("a ring (synthetic); counted on 2026-01-01 by `gnnbench count`, commit abc"));
}

TEST_CASE("another system's lines have no place for ours") {
    Sample s = sample();
    s.add("a", 1, {0.006});
    const std::string text = s.render_as(
        definition("rows: [{name: x}]\ncolumns: [{name: a, where: {scheme: a}}, {name: DGL, measured: false}]\n",
                   "t,x,DGL,3,ms,p. 1,3,\n"));
    CHECK_THAT(text, Contains("     | a       | DGL\nGPUs | ours    | paper\nx    | 6.00 ab |     3\n"));
}

TEST_CASE("every metric that tables may name is read from the database") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto cell = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{cell});
    d.apply(samples::whole_trial("m0", cell));
    const auto measured = read_measured(path, std::vector<std::string>{"sample"});
    const MetricReader reader(path);
    for (const Metric& m : metrics()) {
        INFO(m.name);
        CHECK_NOTHROW(reader.read(measured.cells.at(0).ok_trials.at(0), std::string(m.name)));
    }
    for (const CellField& f : cell_fields()) {
        INFO(f.name);
        CHECK(measured.cells.at(0).fields.contains(std::string(f.name)));
    }
}
