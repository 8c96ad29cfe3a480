// A paper's table from cells made by hand.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "record/database.hpp"
#include "record_samples.hpp"
#include "report_table_samples.hpp"
#include "spec/metrics.hpp"

using namespace gnnbench;
using namespace gnnbench::samples;
using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("a table of what was never measured has the paper's numbers and invents none") {
    const std::string text =
        sample().render_as(definition(two_by_two, "t,1,a,2,ms,p. 1,2,\nt,2,b,OOM,,p. 1,-,\n"));
    CHECK_THAT(text, StartsWith("T (S, Table 1)\n\n") &&
                         Contains("\nours: nothing measured yet; profile small: e-small\n"));
    CHECK_THAT(text, Contains("1    |           2 |\n2    |             |         OOM\n"));
}

TEST_CASE("places are of cells by fields, parameters, null and expressions") {
    Sample s = sample();
    s.add("a", 1, {0.1});
    s.add("a", 1, {0.2});
    s.add("b", 1, {0.4});
    s.measured.cells[0].fields["scheme.overlap"] = true;
    s.measured.cells[1].fields["scheme.overlap"] = false;
    const auto shown = [&](const std::string& where, const std::string& cell = "{metric: epoch_s, unit: ms}") {
        const auto j = nlohmann::json::parse(
            s.render_as(definition("rows: [r]\ncolumns: [{name: x, where: " + where + ", cell: " + cell + "}]\n"),
                        OutputFormat::json));
        return j.at("cells")[0].at("ours");
    };
    CHECK(shown("{scheme: a, scheme.overlap: true}") == Approx(100));
    CHECK(shown("{scheme: a, scheme.overlap: false}") == Approx(200));
    CHECK(shown("{scheme: a}").is_null());  // two cells
    CHECK(shown("{scheme.overlap: null}") == Approx(400));
    CHECK(shown("{scheme: [a, b], scheme.overlap: [null, false]}",
                "{metric: epoch_s, unit: ms, over_cells: maximum}") == Approx(400));
    CHECK(shown("\"scheme = 'a' AND NOT scheme.overlap\"") == Approx(200));
    CHECK(shown("[{scheme: a}, scheme.overlap]") == Approx(100));
    CHECK(shown("\"scheme = 'a' AND kernel.format = 'csr'\"").is_null());  // no cell has that parameter
    CHECK_THROWS_WITH(shown("\"schema = 'a'\""), Contains("there is no field 'schema'"));
    // A base that names the scheme drops what is said of its parameters.
    CHECK(shown("{scheme: a, scheme.overlap: true}", "{metric: epoch_s, unit: ×, speed_up_over: {scheme: b}}") ==
          Approx(4));
}

TEST_CASE("ours, the paper's, their ratio, the best and what ended otherwise") {
    Sample s = sample();
    s.add("a", 1, {0.004, 0.004});
    s.add("b", 1, {0.002, 0.003});
    s.add("a", 2, {}, "oom");
    s.add("b", 2, {0.001});
    for (ComparisonCell& c : s.measured.cells) c.oversubscribed = c.gpus == 2;
    const TableDefinition t = definition(papers_setting + two_by_two + "best: lowest\n",
                                         "t,1,a,0.002,s,p. 1,0.002,a slip\nt,2,a,7,ms,p. 1,7,\n");
    CHECK(s.render_as(t) == 1 + R"(
T (S, Table 1)

     | a                      | b
GPUs | ours    paper    ratio | ours
1    | 4.00     2.00 a   2.00 | 2.50 *
2    |  OOM b      7          | 1.00 c

numbers in ms; ratio: ours ÷ paper, in the paper's setting; the lowest of ours in each row with *
ours: Sample CPU, 4 cores; kernel cpu; profile small: e-small
all of ours: verified (loss and gradients as the serial float64 reference, bytes as stated);
  synthetic data (features)

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

TEST_CASE("simulated numbers have a column and a ratio of their own, and never one as ours") {
    Sample s = sample();
    s.add("a", 1, {0.006});
    MeasuredCells simulated;
    simulated.experiments = {"e-simulated"};
    const auto add = [&](int gpus, double time_s, double vertices) {
        ComparisonCell c = s.measured.cells.front();
        c.fields["gpus"] = std::to_string(gpus);
        c.simulated = "dgx-a100";
        c.synthetic = "graph, features";
        c.ok_trials = {static_cast<std::int64_t>(100 + simulated.cells.size())};
        s.times_s[c.ok_trials.front()] = time_s;
        s.times_s[-c.ok_trials.front()] = vertices;
        simulated.cells.push_back(c);
    };
    const TableDefinition t =
        definition(papers_setting + "simulated_on: dgx-a100\nshow: [ours, published, ratio]\n" + two_by_two,
                   "graphs,d,vertices,1000,,p. 1,1000,\nt,1,a,2,ms,p. 1,2,\nt,2,a,4,ms,p. 1,4,\n");
    const auto shown = [&](OutputFormat format, const MeasuredCells& measured) {
        const auto read = [&](std::int64_t trial, const Measure& m) {
            return std::optional(s.times_s.at(m.metric == "vertices" && trial >= 100 ? -trial : trial));
        };
        return render(paper_table(resolve(t, measured, "small", read, &simulated)), format);
    };
    add(1, 0.005, 980);  // the paper's size, rounded
    add(2, 0.003, 980);
    const std::string text = shown(OutputFormat::text, s.measured);
    CHECK_THAT(text, Contains("SIMULATED on dgx-a100: predicted by a model, not measured and not verified; "
                              "profile simulated:\n  e-simulated"));
    CHECK_THAT(text, Contains("all of the simulated ones: ") && Contains("SIM. ÷ paper"));
    CHECK_THAT(shown(OutputFormat::markdown, s.measured),
               Contains("6.00 · SIMULATED 5.00 · paper 2 · 3.00× · SIMULATED ÷ paper 2.50×"));
    const auto j = nlohmann::json::parse(shown(OutputFormat::json, s.measured));
    CHECK(j.at("cells")[0].at("ours") == Approx(6));
    CHECK(j.at("cells")[0].at("ratio") == Approx(3));
    CHECK(j.at("cells")[0].at("simulated") == Approx(5));
    CHECK(j.at("cells")[0].at("simulated_ratio") == Approx(2.5));
    CHECK(j.at("cells")[2].at("ours").is_null());
    CHECK(j.at("cells")[2].at("ratio").is_null());
    CHECK(j.at("cells")[2].at("simulated_ratio") == Approx(0.75));
    CHECK(j.at("cells")[2].at("simulated_on") == "dgx-a100");
    CHECK_THAT(text, !Contains("constants were fitted"));
    CHECK(j.at("cells")[0].at("simulated_fitted") == false);
    // A number that the model was fitted to predicts nothing.
    TableDefinition fitted = t;
    fitted.fitted_to = {{"gpus", {"1"}}};
    const auto marked = [&](OutputFormat format) {
        const auto read = [&](std::int64_t trial, const Measure& m) {
            return std::optional(s.times_s.at(m.metric == "vertices" && trial >= 100 ? -trial : trial));
        };
        return render(paper_table(resolve(fitted, s.measured, "small", read, &simulated)), format);
    };
    CHECK_THAT(marked(OutputFormat::text),
               Contains("2.50 c") && !Contains("0.75 c") &&
                   Contains("c  no prediction: the machine's constants were fitted to"));
    const auto f = nlohmann::json::parse(marked(OutputFormat::json));
    CHECK(f.at("cells")[0].at("simulated_fitted") == true);
    CHECK(f.at("cells")[2].at("simulated_fitted") == false);
    // A graph of another size than the paper's has no ratio; shown as ours, a simulated number has none either.
    s.times_s[-100] = s.times_s[-101] = 500;
    CHECK_THAT(shown(OutputFormat::text, s.measured), Contains("SIMULATED") && !Contains("SIM. ÷ paper"));
    MeasuredCells as_ours = simulated;
    for (ComparisonCell& c : as_ours.cells) c.synthetic = "";
    const auto k = nlohmann::json::parse(shown(OutputFormat::json, as_ours));
    CHECK(k.at("cells")[0].at("ours") == Approx(5));
    CHECK(k.at("cells")[0].at("ratio").is_null());
}

TEST_CASE("the best of the simulated numbers is marked, whatever the best of ours is") {
    Sample s = sample();
    s.add("a", 1, {0.004});
    s.add("b", 1, {0.002});
    MeasuredCells simulated = s.measured;
    for (ComparisonCell& c : simulated.cells) {
        c.simulated = "dgx-a100";
        c.ok_trials = {100 + c.ok_trials.front()};
    }
    s.times_s[100] = 0.005;
    s.times_s[101] = 0.007;
    const TableDefinition t = definition(papers_setting + "simulated_on: dgx-a100\nbest: lowest\n" + two_by_two);
    const std::string text = render(
        paper_table(resolve(
            t, s.measured, "small",
            [&](std::int64_t trial, const Measure&) { return std::optional(s.times_s.at(trial)); }, &simulated)),
        OutputFormat::text);
    CHECK_THAT(text, Contains("the lowest of ours, and of SIMULATED, in each row with *"));
    CHECK_THAT(text, Contains("1    | 4.00       5.00 * | 2.00 *       7.00\n"));
}

TEST_CASE("a line compares with other cells than its cells' measure says") {
    Sample s = sample();
    s.add("a", 1, {0.006});
    s.add("a", 2, {0.002});
    s.add("a", 4, {0.001});
    const std::string text = s.render_as(
        definition("rows: [{name: one}, {name: two, against: {gpus: 2}}]\n"
                   "columns: [{name: x, where: {scheme: a, gpus: 4}, cell: {speed_up_over: {gpus: 1}}},"
                   " {name: ms, where: {scheme: a, gpus: 4}}]\n"));
    CHECK_THAT(text, Contains("one  | 6.00  | 1.00\n") && Contains("two  | 2.00  | 1.00\n"));
}

TEST_CASE("what a command counted stands beside the paper's, with its origin") {
    const TableDefinition t =
        read_table_definition("title: T\nsource: S\nrows: [a, b]\ncolumns: [x]\ncell: {decimals: 3}\n", "p/t.yaml",
                              head + std::string("t,a,x,2,,p. 1,2,\n"),
                              "table,row,column,value,unit,dataset,gpus,of,command,date,commit\n"
                              "t,a,x,3.1234,,ring,4,a ring (synthetic),gnnbench count,2026-01-01,abc\n");
    const std::string text = sample().render_as(t);
    CHECK_THAT(text, Contains("a | 3.123 a      2\nb |\n"));
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

TEST_CASE("ours ÷ paper stands only in the paper's setting: its dataset, widths and number of devices") {
    const auto ratio = [](const std::string& where, const std::string& synthetic = "") {
        Sample s = sample();
        s.add("a", 1, {0.006});
        s.measured.cells[0].synthetic = synthetic;
        const auto j = nlohmann::json::parse(
            s.render_as(definition("rows: [r]\ncolumns: [{name: x, where: {scheme: a, " + where + "}}]\n",
                                   "t,r,x,3,ms,p. 1,3,\n"),
                        OutputFormat::json));
        CHECK(j.at("cells")[0].at("ours") == Approx(6));
        CHECK(j.at("cells")[0].at("published") == Approx(3));
        return j.at("cells")[0].at("ratio");
    };
    CHECK(ratio("dataset: [d, d-small], model.hidden: [64, 16], gpus: [1, 2]") == Approx(2));
    CHECK(ratio("dataset: [paper, d], model.hidden: 64, gpus: 1").is_null());
    CHECK(ratio("dataset: d, model.hidden: [512, 64], gpus: 1").is_null());
    CHECK(ratio("dataset: d, model.hidden: 64, gpus: [512, 1]").is_null());
    // Of several depths the first width tells, where layers are named beside it.
    CHECK(ratio("dataset: d, model.hidden: [\"64,64\", 64], model.depth: 2, gpus: 1") == Approx(2));
    CHECK(ratio("dataset: d, model.hidden: [\"50,50\", 64], model.depth: 2, gpus: 1").is_null());
    CHECK(ratio("dataset: d, gpus: 1").is_null());  // nobody says what the paper's widths are
    CHECK(ratio("model.hidden: 64, gpus: 1").is_null());
    CHECK(ratio("dataset: d, model.hidden: 64, gpus: 1", "graph, features").is_null());
    CHECK(ratio("dataset: d, model.hidden: 64, gpus: 1", "features") == Approx(2));
}

TEST_CASE("a table says above what differs from the paper's setting") {
    Sample s = sample();
    s.add("a", 1, {0.006});
    const std::string text =
        s.render_as(definition("device: V100s\nrows: [r]\ncolumns: [{name: x, where: {scheme: a, dataset: [big, "
                               "d], model.hidden: [512, 64], gpus: "
                               "[8, 1]}}]\n",
                               "graphs,big,vertices,0.6,,p. 1,600,\nt,r,x,3,ms,p. 1,3,\n"));
    CHECK_THAT(
        text,
        Contains("ours is not the paper's setting: graph with 1/100 of the vertices; hidden widths 64 for 512; "
                 "ranks 1\n  for 8; kernel cpu, not V100s"));
    CHECK_THAT(text, !Contains("ratio"));

    // A figure of which nobody can read a number is a paper's, too; a table of ours is not.
    const std::string place = "rows: [r]\ncolumns: [{name: x, where: {scheme: a, dataset: [big, d]}}]\n";
    CHECK_THAT(s.render_as(definition("device: V100s\n" + place)),
               Contains("ours is not the paper's setting: other graph (d); kernel cpu, not V100s"));
    CHECK_THAT(s.render_as(definition(place)), !Contains("not the paper's setting"));
}

TEST_CASE("a number of another kind than its table's keeps its own unit") {
    // Plexus' Figure 7.5 has a column of GPUs among times in ms.
    const std::string csv = "t,r,most,1024,,p. 1,1024,\nt,r,over,1.1,×,p. 1,1.1,\n";
    const TableDefinition t = definition(
        "rows: [r]\ncolumns: [{name: a, where: {scheme: a}}, {name: most, measured: false}, {name: over, "
        "measured: "
        "false}]\n",
        csv);
    const std::string text = sample().render_as(t);
    CHECK_THAT(text, Contains("1024") && !Contains("1024000") && !Contains("1100"));
    const auto j = nlohmann::json::parse(sample().render_as(t, OutputFormat::json));
    CHECK(j.at("cells")[1].at("published") == Approx(1024));
    CHECK(j.at("cells")[1].at("unit") == "");
    CHECK(j.at("cells")[2].at("unit") == "×");
}

TEST_CASE("numbers of a verification are provenance: in JSON, not under a table") {
    Sample s = sample();
    s.add("a", 1, {0.006});
    s.add("a", 2, {0.003});
    for (ComparisonCell& c : s.measured.cells) {
        c.verification.reason = "in float64; float32's rounding moves a gradient by 2.56e-04 (epoch 4, W" +
                                std::to_string(c.gpus) + ")";
        c.verification.sampled_vertices = 1000 + c.gpus;
    }
    const TableDefinition t = definition(two_by_two);
    const std::string text = s.render_as(t);
    CHECK_THAT(text, !Contains("rounding") && !Contains("1001") && Contains("verified on a part of the graph"));
    CHECK_THAT(text, !Contains("\na  "));
    const auto j = nlohmann::json::parse(s.render_as(t, OutputFormat::json));
    CHECK_THAT(j.at("cells")[0].at("provenance").get<std::string>(),
               Contains("rounding moves a gradient by 2.56e-04 (epoch 4, W1)") && Contains("1001 vertices"));
}

TEST_CASE("what is approximate says so once, and that this is why it is unverified") {
    Sample s = sample();
    s.add("a", 1, {0.006});
    s.measured.cells[0].approximation = "gradient shortcut";
    s.measured.cells[0].verification.status = VerificationStatus::unverified;
    s.measured.cells[0].verification.reason = "approximate: gradient shortcut";
    CHECK_THAT(s.render_as(definition(two_by_two)),
               Contains("approximate, so unverified (gradient shortcut)") && !Contains("unverified (approximate"));
}

TEST_CASE("a table of many cells, each with its own verification, has few marks") {
    Sample s = sample();
    for (int gpus = 1; gpus <= 16; ++gpus)
        for (const char* scheme : {"a", "b", "c", "d"}) {
            s.add(scheme, gpus, {0.001 * gpus});
            ComparisonCell& c = s.measured.cells.back();
            c.oversubscribed = gpus > 4 || *scheme == 'c';
            c.verification.sampled_vertices = (gpus * 7 + *scheme) % 3 == 0 ? 100 * gpus : 0;
            c.verification.reason = "moves a gradient by " + std::to_string(gpus) + scheme;
        }
    const Table table = paper_table(resolve(
        definition("rows: {over: gpus, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}\ncolumns: "
                   "{over: scheme, values: [a, b, c, d]}\n"),
        s.measured, "small",
        [&](std::int64_t trial, const Measure&) { return std::optional(s.times_s.at(trial)); }));
    std::size_t marks = 0;
    for (const Table::Row& row : table.rows)
        for (const Table::Cell& cell : row.cells)
            for (const Table::Field& field : cell.fields) marks += field.marks.size();
    CHECK(marks <= 8);
    CHECK(table.notes.size() <= 8);
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
}

TEST_CASE("training until a score is reached counts epochs up to the first evaluation that has it") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto cell = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{cell});
    auto lines =
        samples::whole_trial("m0", cell);  // measured epochs of 2, 3 and 7 s; a score of 0.8 after the last
    const auto evaluation =
        std::ranges::find_if(lines, [](const auto& l) { return l.at("type") == "evaluation"; });
    auto earlier = *evaluation;
    earlier["epoch"] = 2;
    earlier["test"] = 0.5;
    lines.insert(evaluation, earlier);
    d.apply(lines);
    const std::int64_t trial = read_measured(path, std::vector<std::string>{"sample"}).cells.at(0).ok_trials.at(0);
    const MetricReader reader(path);
    CHECK(reader.training_s_until(trial, 0.4) == 2 + 3);
    CHECK(reader.training_s_until(trial, 0.5) == 2 + 3);
    CHECK(reader.training_s_until(trial, 0.51) == 2 + 3 + 7);
    CHECK_FALSE(reader.training_s_until(trial, 0.9).has_value());
    CHECK(reader.read(trial, "training_s") == 2 + 3 + 7);
}
