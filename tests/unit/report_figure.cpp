// Figures as gnuplot scripts; tests/endtoend/figures.sh draws them.
#include <catch2/catch.hpp>

#include <set>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "report/figure.hpp"
#include "report/figure_colours.hpp"
#include "report/figure_data.hpp"
#include "report/figure_parts.hpp"
#include "report/figure_timelines.hpp"
#include "report/paper_heading.hpp"

using namespace gnnbench;
using Catch::Contains;

namespace {

constexpr const char* head = "table,row,column,value,unit,page,verbatim,erratum\n";

/// Cells a on 1, 2 and 4 gpus, with 8, 4 and 2 ms.
MeasuredCells cells() {
    MeasuredCells m;
    m.experiments = {"e-small"};
    for (const int gpus : {1, 2, 4}) {
        ComparisonCell c;
        c.status = TrialStatus::ok;
        c.epoch_s = Estimate{.trials = 1, .median = 0.008 / gpus};
        c.fields = {{"gpus", std::to_string(gpus)}, {"scheme", "a"}};
        c.ok_trials = {gpus};
        m.cells.push_back(c);
    }
    return m;
}

struct Drawn {
    TableDefinition definition;
    MeasuredCells measured = cells();
    ResolvedTable resolved;
    explicit Drawn(const std::string& more, const std::string& csv = "")
        : definition(read_table_definition(
              "title: T\nsource: S\nexperiments: e\ncell: {metric: epoch_s, unit: ms}\n" + more, "p/f.yaml",
              head + csv)),
          resolved(resolve(definition, measured, "small", [](std::int64_t trial, const Measure&) {
              return std::optional(0.008 / static_cast<double>(trial));
          })) {}
    std::string script() const { return figure_script(resolved, FigureFormat::svg); }
};

const std::string lines = "rows: {over: gpus, values: [1, 2, 4]}\ncolumns: {over: scheme, values: [a, b]}\n";

}  // namespace

TEST_CASE("a table is no figure; a figure without numbers says so") {
    CHECK_THROWS_AS(Drawn(lines).script(), SpecError);
    const Drawn none("rows: [x]\ncolumns: [{name: y, measured: false}]\nplot: {kind: bars}\n");
    CHECK_THAT(none.script(), Contains("nothing measured yet, and no published number"));
}

TEST_CASE("what is missing is said below") {
    const std::string b = "b of a name that is longer", c = "c of a name that is longer";
    const Drawn d("rows: {over: gpus, values: [1, 2, 4]}\ncolumns: {over: scheme, values: [a, " + b + ", " + c +
                      "]}\nplot: {kind: scaling, x_label: GPUs}\n",
                  fmt::format("f,1,{0},OOM,,p. 1,-,\nf,2,{0},OOM,,p. 1,-,\nf,1,{1},OOM,,p. 1,-,\n", b, c));
    CHECK_THAT(d.script(),
               Contains(fmt::format("OOM, paper: {} at 1, 2; {} at 1", b, c)) && !Contains("rotate by 90 front"));
    for (const FigureHeading heading : {FigureHeading::title, FigureHeading::left_out})
        CHECK_THAT(figure_script(d.resolved, FigureLook(FigureFormat::svg, heading)),
                   Contains("OOM, paper: " + b));
    const Drawn two(
        "rows: {over: gpus, values: [1, 2]}\ncolumns: {over: scheme, values: [a, b, c]}\n"
        "plot: {kind: scaling, x_label: GPUs}\n",
        "f,1,b,OOM,,p. 1,-,\nf,1,c,OOM,,p. 1,-,\n");
    CHECK_THAT(two.script(), Contains("OOM, paper: b at 1; c at 1") && !Contains("rotate by 90 front"));
    const Drawn beyond(  // the last number, and on an axis of powers
        "rows: {over: gpus, values: [0, 1, 2, 16]}\ncolumns: {over: scheme, values: [a, b]}\n"
        "plot: {kind: scaling, x_label: GPUs}\n",
        "f,0,b,OOM,,p. 1,-,\nf,16,b,OOM,,p. 1,-,\n");
    CHECK_THAT(beyond.script(), Contains("OOM, paper: b at 16\"") && Contains("set xrange [0.83"));
    const Drawn words(
        "rows: {over: gpus, values: [8, 16]}\ncolumns: {over: scheme, values: [b]}\nplot: {kind: line}\n",
        "f,8,b,OOM,,p. 1,-,\nf,16,b,OOM,,p. 1,-,\n");
    CHECK_THAT(words.script(), Contains("OOM, paper: b at 8, 16"));
}

TEST_CASE("what is missing below several panels names its panel") {
    const std::string rows =
        "rows: [{name: first, where: {scheme: a}}, {name: second, where: {scheme: b}}, {name: third, where: "
        "{scheme: c}}]\n"
        "columns:\n"
        "  - {name: HP 1, section: HP, label: \"1\", where: {gpus: 1}}\n"
        "  - {name: HP 8, section: HP, label: \"8\", where: {gpus: 8}}\n"
        "plot: {kind: scaling, over: columns, panels: true}\n";
    const std::string script =
        Drawn(rows,
              "f,first,HP 8,OOM,,p. 1,-,\nf,second,HP 1,5,ms,p. 1,5,\nf,second,HP 8,OOM,,p. 1,-,\n"
              "f,third,HP 1,OOM,,p. 1,-,\n")
            .script();
    CHECK_THAT(script, Contains("first: OOM, paper: HP at 8") && Contains("second: OOM, paper: HP at 8") &&
                           Contains("third: OOM, paper: HP at 1") && !Contains("set title \"third\""));
}

TEST_CASE("an x of 0 has no place on an axis of powers") {
    const Drawn d(
        "rows: {over: gpus, values: [0, 1, 2]}\ncolumns: {over: scheme, values: [a]}\n"
        "plot: {kind: scaling, x_label: GPUs}\n",
        "f,0,a,6,ms,p. 1,6,\n");
    CHECK_THAT(d.script(), Contains("set logscale x 2") && !Contains("set xrange [0:"));
}

TEST_CASE("ours and the paper's are different marks of one colour") {
    const Drawn d(lines + "plot: {kind: scaling, x_label: GPUs}\n",
                  "f,1,a,6,ms,p. 1,6,\nf,2,a,0.003,s,p. 1,3,\nf,4,b,OOM,,p. 1,-,\n");
    const std::string script = d.script();
    CHECK_THAT(script, Contains("set logscale y\n") && Contains("set logscale x 2\n"));
    CHECK_THAT(script, Contains("OOM, paper: b at 4") && !Contains("rotate by 90 front"));
    CHECK_THAT(script, Contains("$d0 << EOD\n1 8\n2 4\n4 2\nEOD\n") && Contains("$d1 << EOD\n1 6\n2 3\nEOD\n"));
    CHECK_THAT(script, Contains("$d0 using 1:2 with linespoints lc rgb '#0072B2' lw 2 dt 1 pt 7"));
    CHECK_THAT(script, Contains("$d1 using 1:2 with linespoints lc rgb '#0072B2' lw 3 dt '.' pt 2") &&
                           Contains("title \"a (paper)\""));
    CHECK(figure_data(d.resolved).series.at(1).words.at(2) == "OOM");
}

TEST_CASE("measured, simulated and published numbers are told apart, and a key names the three") {
    MeasuredCells simulated = cells();
    for (ComparisonCell& c : simulated.cells) c.simulated = "perlmutter";
    simulated.cells.pop_back();
    simulated.cells.back().ok_trials = {};
    simulated.cells.back().epoch_s = {};
    simulated.cells.back().status = TrialStatus::oom;
    const auto drawn = [&](const std::string& plot) {
        const Drawn d("simulated_on: perlmutter\n" + lines + plot, "f,1,a,6,ms,p. 1,6,\n");
        return figure_script(resolve(
                                 d.definition, d.measured, "small",
                                 [](std::int64_t trial, const Measure&) {
                                     return std::optional(0.008 / static_cast<double>(trial));
                                 },
                                 &simulated),
                             FigureFormat::svg);
    };
    const std::string script = drawn("plot: {kind: scaling}\n");
    CHECK_THAT(script, Contains("dt 1 pt 7 ps 1.2 title \"a\"") && Contains("dt '-' pt 6 ps 1.2 notitle") &&
                           Contains("dt '.' pt 2 ps 1.3 notitle"));
    CHECK_THAT(script, Contains("title \"measured\"") && Contains("title \"SIMULATED on perlmutter\"") &&
                           Contains("title \"published\"") && !Contains("(paper)"));
    CHECK_THAT(script, Contains("SIMULATED on perlmutter: predicted by a model") && !Contains("fitted"));
    const std::string fitted = drawn("fitted_to: {gpus: 1}\nplot: {kind: scaling}\n");
    CHECK_THAT(fitted,
               Contains("1 8\nEOD") && Contains("pt 6 ps 2.6") && Contains("title \"fitted, no prediction\""));
    const std::string bars = drawn("plot: {kind: bars}\n");
    CHECK_THAT(bars, Contains("fs solid 0.9") && Contains("fs solid 0.25") && Contains("fs pattern 4") &&
                         Contains("set label \"OOM\""));
    const std::string stacked = drawn("plot: {kind: stacked}\n");  // three bars of a third each
    CHECK_THAT(stacked, Contains("-0.4 -0.13") && Contains(" 0 8\nEOD") && Contains(" 0 6\nEOD"));
}

TEST_CASE("bars stand side by side, and on each other") {
    const std::string bars =
        Drawn(lines + "plot: {kind: bars}\n", "f,1,a,6,ms,p. 1,6,\nf,1,b,OOM,,p. 1,-,\n").script();
    CHECK_THAT(bars, Contains("with boxxyerror") && Contains("fs pattern 4") && Contains("fs solid") &&
                         Contains("set label \"b: OOM, paper\""));
    const std::string stacked = Drawn(
                                    "rows: [{name: r, where: {scheme: a}}]\ncolumns: {over: gpus, values: [1, "
                                    "2]}\nplot: {kind: stacked}\n")
                                    .script();
    CHECK_THAT(stacked, Contains("-0.3 0.3 0 8\n") && Contains("-0.3 0.3 8 12\n"));
}

TEST_CASE("one axis has one unit, and numbers of the text alone are not drawn") {
    const std::string script =
        Drawn(
            "rows: [{name: r, where: {gpus: 1}}, {name: said, measured: false}]\ncolumns:\n"
            "  - {name: over, measured: false}\n  - {name: a, where: {scheme: a}}\n"
            "  - {name: up, where: {scheme: a}, cell: {speed_up_over: {gpus: 4}}}\nplot: {kind: bars}\n",
            "f,r,up,77,×,p. 1,77,\nf,said,a,55,ms,p. 1,55,\n")
            .script();
    CHECK_THAT(script, Contains("title \"a\"") && !Contains("77") && !Contains("55\n") && !Contains("said"));
}

TEST_CASE("scatter has a point for each row with both numbers") {
    const std::string script =
        Drawn(
            "rows: {over: gpus, values: [1, 2, 8]}\ncolumns:\n  - {name: x, where: {scheme: a}}\n"
            "  - {name: y, where: {scheme: a}}\nplot: {kind: scatter}\n")
            .script();
    CHECK_THAT(script, Contains("8 8 \"1\"\n4 4 \"2\"\nEOD"));
}

TEST_CASE("timelines are a panel for each row") {
    Timeline t;
    t.ranks = 2;
    t.spans = {{0, false, "spmm", "spmm", 0, 0.002, 0, 0}, {1, true, "comm", "broadcast", 0.001, 0.003, 10, 2}};
    const FigureParts parts = timeline_parts({{"first", t}, {"second", t}});
    CHECK(parts.plots.size() == 2);
    CHECK_THAT(parts.plots[1], Contains("title \"broadcast\""));
    CHECK_THAT(parts.settings,
               Contains("set label \"first\"") && Contains("\"rank 1\" -1.5") && Contains("\"rank 0\" -3.4"));
    CHECK_THAT(parts.blocks, Contains(" 0 2 -0.5 -0.1\n") && Contains(" 1 3 -1.9 -1.5\n"));
}

TEST_CASE("timelines that were measured and simulated have axes of their own, and one legend") {
    Timeline t;
    t.ranks = 1;
    t.spans = {{0, false, "spmm", "spmm", 0, 0.002, 0, 0}, {0, true, "comm", "broadcast", 0.001, 0.003, 10, 2}};
    const PanelFigure figure = timeline_figure({{"a", t}, {"b", t, true}}, "measured", "SIMULATED");
    REQUIRE(figure.panels.size() == 2);
    CHECK((figure.panels[0].first == "measured" && figure.panels[1].first == "SIMULATED"));
    REQUIRE(figure.legend.size() == 2);
    CHECK((figure.legend[0].second == "SpMM" && figure.legend[1].second == "broadcast"));
    for (const auto& [title, parts] : figure.panels) {
        CHECK_THAT(parts.settings, Contains("set xrange [0:*]"));
        for (const std::string& plot : parts.plots) CHECK(plot.ends_with(" notitle"));
    }
}

TEST_CASE("bars of one scheme are shades of its colour; words that would cover each other or bars stand below") {
    FigureSeries one, two, other;
    one.scheme = two.scheme = "mg-gcn";
    other.scheme = "cagnet-1d";
    const auto colours = bar_colours({one, two, other});
    CHECK(std::set<std::string>(colours.begin(), colours.end()).size() == 3);
    std::string columns, published;
    for (int i = 0; i < 40; ++i) {
        columns += fmt::format("{}{{name: c{}, where: {{scheme: b}}}}", i ? ", " : "", i);
        published += fmt::format("f,1,c{},OOM,,p. 1,-,\n", i);
    }
    const std::string script =
        Drawn("rows: {over: gpus, values: [1, 2]}\ncolumns: [" + columns + "]\nplot: {kind: bars}\n",
              "f,2,c0,6,ms,p. 1,6,\n" + published)
            .script();
    CHECK_THAT(script, Contains("OOM, paper, at 1: c0; c1; c2;") && Contains("c39") && !Contains("rotate by 90"));
}

TEST_CASE("text cannot become gnuplot commands") {
    CHECK(gnuplot_text("a \"b\" \\ `rm` \n") == "\"a \\\"b\\\" \\\\ 'rm' \"");
}

TEST_CASE("a series that is nothing but words is named where the words stand; numbers of GPUs say what they are") {
    const Drawn d(
        "rows: [{name: a, where: {scheme: a}}, {name: b, where: {scheme: b}}]\ncolumns: {over: gpus, values: [1, "
        "2]}\n"
        "plot: {kind: bars}\n",
        "f,a,1,6,ms,p. 1,6,\n");
    CHECK_THAT(d.script(),
               Contains("title \"1 GPU\"") && Contains("title \"2 GPUs\"") && Contains("title \"1 GPU (paper)\""));
    const Drawn words(lines + "plot: {kind: bars}\n", "f,1,b,OOM,,p. 1,-,\n");
    CHECK_THAT(words.script(), Contains("set label \"b: OOM, paper\""));
}

TEST_CASE("a figure without its heading leaves it out, and is nothing where nothing is drawn") {
    const Drawn none("rows: [x]\ncolumns: [{name: y, measured: false}]\nplot: {kind: bars}\n");
    CHECK(figure_script(none.resolved, {FigureFormat::svg, FigureHeading::left_out}).empty());
    const Drawn d(lines + "plot: {kind: bars}\n");
    CHECK_THAT(d.script(), Contains("T (S)"));
    CHECK_THAT(figure_script(d.resolved, {FigureFormat::svg, FigureHeading::left_out}), !Contains("T (S)"));
}

TEST_CASE("no two series of a figure look alike, and only what is drawn is counted") {
    // MG-GCN's Figure 10: ten series, of which palettes of eight gave two one blue, and a quotient that is not drawn.
    std::string text = "rows: [{name: r, where: {scheme: a}}]\ncolumns:\n  - {name: DGL, where: {gpus: 1}}\n";
    for (const char* section : {"CAGNET", "MG-GCN", "exact"})
        for (int i = 0; i < 4; ++i)
            text += fmt::format("  - {{name: {0} {1}, label: \"{1}\", section: {0}, where: {{gpus: {2}}}}}\n",
                                section, i, i % 2 + 1);
    text +=
        "  - {name: over, where: {gpus: 2}, cell: {metric: epoch_s, speed_up_over: {gpus: 1}}}\nplot: {kind: "
        "bars}\n";
    Drawn d(text);
    std::set<std::string> colours;
    const std::string script = d.script();
    std::size_t series = 0;
    for (std::size_t at = 0; (at = script.find("boxxyerror lc rgb '", at)) != std::string::npos; ++series) {
        at += 19;
        colours.insert(script.substr(at, 7));
    }
    CHECK(series == 13);
    CHECK(colours.size() == series);
    d.measured.cells[1].oversubscribed = true;  // on 2 gpus: six bars and the quotient
    const ResolvedTable again = resolve(d.definition, d.measured, "small", [](std::int64_t trial, const Measure&) {
        return std::optional(0.008 / static_cast<double>(trial));
    });
    for (const std::string& line : remarks_on_figure(again)) CHECK_THAT(line, !Contains("14 numbers"));
}

TEST_CASE("no line joins published points that an erratum sets apart") {
    // Demirci's Figure 4b: one sentence has 28x and 40x for d = 100, another 40x for d = 50.
    const std::string script =
        Drawn(lines + "plot: {kind: line}\n", "f,1,a,6,ms,p. 1,6,\nf,2,a,5,ms,p. 1,5,a slip\nf,4,a,4,ms,p. 1,4,\n")
            .script();
    CHECK_THAT(script, Contains("1 6\n\n2 5\n\n4 4\n"));
}

TEST_CASE(
    "lines of several schemes on one dataset have each scheme's colour, in any order; those of several datasets "
    "their own") {
    const auto colour_of = [](const std::string& script, const std::string& title) {
        const std::size_t end = script.find("title \"" + title + "\""), at = script.rfind("lc rgb '", end);
        return end == std::string::npos ? "" : script.substr(at + 8, 7);
    };
    const auto drawn = [&](const std::string& columns) {
        std::string csv;
        for (const std::string name : {"p", "q", "r"})
            if (columns.find("name: " + name) != std::string::npos)
                csv += "f,1," + name + ",6,ms,p. 1,6,\nf,2," + name + ",5,ms,p. 1,5,\n";
        return Drawn("rows: {over: gpus, values: [1, 2]}\ncolumns: " + columns + "\nplot: {kind: line}\n", csv)
            .script();
    };
    const std::string p = "{name: p, where: {scheme: a, partitioner: block}}", q = "{name: q, where: {scheme: b}}",
                      r = "{name: r, where: {scheme: a, partitioner: random}}";
    const std::string one = drawn("[" + p + ", " + q + ", " + r + "]");
    CHECK(colour_of(one, "p (paper)") == colour_of(one, "r (paper)"));
    CHECK(colour_of(one, "p (paper)") != colour_of(one, "q (paper)"));
    const std::string known = drawn("[{name: p, where: {scheme: sa-1d}}, {name: q, where: {scheme: plexus-3d}}]"),
                      turned = drawn("[{name: q, where: {scheme: plexus-3d}}, {name: p, where: {scheme: sa-1d}}]");
    CHECK(colour_of(known, "p (paper)") == colour_of(turned, "p (paper)"));
    CHECK(colour_of(known, "p (paper)") != colour_of(known, "q (paper)"));
    const std::string datasets = drawn(
        "[{name: p, where: {scheme: a, dataset: x}}, {name: q, where: {scheme: b, dataset: x}}, {name: r, where: "
        "{scheme: a, dataset: y}}]");
    CHECK(colour_of(datasets, "p (paper)") != colour_of(datasets, "r (paper)"));
}

TEST_CASE("places along x without any number take no room in bars") {
    const std::string script = Drawn(
                                   "rows: {over: gpus, values: [1, 16, 64, 256, 2]}\ncolumns: [{name: a, where: "
                                   "{scheme: a}}]\nplot: {kind: stacked}\n")
                                   .script();
    CHECK_THAT(script, Contains("set xtics (\"1\" 0, \"2\" 1)") && !Contains("\"64\""));
}

TEST_CASE("a panel for each row, one legend for all") {
    const std::string script = Drawn(
                                   "rows: [{name: first, where: {scheme: a}}, {name: second, where: {scheme: a}}, "
                                   "{name: empty, where: {scheme: z}}]\ncolumns:\n"
                                   "  - {name: HP 1, section: HP, label: \"1\", where: {gpus: 1}}\n"
                                   "  - {name: HP 2, section: HP, label: \"2\", where: {gpus: 2}}\n"
                                   "  - {name: RP 2, section: RP, label: \"2\", where: {gpus: 2}}\n"
                                   "plot: {kind: scaling, over: columns, panels: true}\n",
                                   "f,second,HP 2,5,ms,p. 1,5,\n")
                                   .script();
    CHECK_THAT(script, Contains("set multiplot") && Contains("set title \"first\"") &&
                           Contains("set title \"second\"") && !Contains("set title \"empty\""));
    CHECK_THAT(script, Contains("title \"HP\"") && Contains("title \"RP\"") && Contains("title \"HP (paper)\"") &&
                           !Contains("title \"RP (paper)\""));
    CHECK(script.find("title \"HP\"") == script.rfind("title \"HP\""));
    // 4 to 8 ms: one axis for all, never one without a length, of which gnuplot warns.
    const std::size_t range = script.find("set yrange [2.66");
    CHECK((range != std::string::npos && script.find("set yrange [2.66", range + 1) != std::string::npos));
}

TEST_CASE("what was measured on smaller graphs shares no axis with the paper's numbers") {
    const auto drawn = [&](const std::string& plot, const std::string& synthetic) {
        Drawn d(lines + "plot: " + plot + "\n", "f,1,a,6,ms,p. 1,6,\nf,2,a,5,ms,p. 1,5,\n");
        for (ComparisonCell& c : d.measured.cells) c.synthetic = synthetic;
        d.resolved = resolve(d.definition, d.measured, "small", [](std::int64_t trial, const Measure&) {
            return std::optional(0.008 / static_cast<double>(trial));
        });
        return d.script();
    };
    const std::string panels = drawn("{kind: line}", "graph");
    const std::size_t papers = panels.find("set title \"graphs of the paper's size\""),
                      smaller = panels.find("set title \"measured, on smaller graphs\"");
    REQUIRE((papers != std::string::npos && smaller != std::string::npos));
    CHECK(papers < smaller);
    CHECK_THAT(panels, Contains("1 6\n2 5\n") && Contains("1 8\n2 4\n4 2\n"));
    // Features alone do not change the graph.
    CHECK_THAT(drawn("{kind: line}", "features"), !Contains("set title"));
    const std::string bars = drawn("{kind: bars}", "graph");
    CHECK_THAT(bars, Contains("and in the table alone") && !Contains("title \"a\""));
}

TEST_CASE("a point close to the one before or to the last has a tic without a label") {
    const std::string columns =
        "rows: [{name: first, where: {scheme: a}}]\ncolumns:\n"
        "  - {name: HP 120, section: HP, label: \"120\", where: {gpus: 1}}\n"
        "  - {name: HP 121, section: HP, label: \"121\", where: {gpus: 2}}\n"
        "  - {name: HP 320, section: HP, label: \"320\", where: {gpus: 4}}\n";
    CHECK_THAT(Drawn(columns + "plot: {kind: scaling, over: columns, panels: true}\n").script(),
               Contains("set xtics (\"120\" 120, \"\" 121, \"320\" 320)"));
}

TEST_CASE("an axis in seconds draws no quotient") {
    // Demirci's Figure 5 drew HP's volume over SHP's, 1.1, among seconds.
    const std::string script =
        Drawn(
            "rows: {over: gpus, values: [1, 2]}\ncolumns: [{name: a, where: {scheme: a}}, {name: over, measured: "
            "false}]\nplot: {kind: line}\n",
            "f,2,over,1.1,×,p. 1,1.1,\n")
            .script();
    CHECK_THAT(script, !Contains("over") && !Contains("1.1\n") && !Contains("1100"));
}

TEST_CASE("a word in place of a quotient stays out of an axis in seconds") {
    // MG-GCN's Figure 10 said that a quotient was out of memory, which is the OOM of the times it is made of.
    MeasuredCells none = cells();
    for (ComparisonCell& c : none.cells) c.status = TrialStatus::oom, c.epoch_s = {}, c.ok_trials = {};
    const Drawn d(
        "simulated_on: perlmutter\nrows: {over: gpus, values: [1, 2]}\ncolumns: [{name: a, where: {scheme: a}}, "
        "{name: "
        "twice, where: {scheme: a}, cell: {metric: epoch_s, relative_to: {gpus: 1}}}]\nplot: {kind: bars}\n");
    const std::string script =
        figure_script(resolve(
                          d.definition, d.measured, "small",
                          [](std::int64_t, const Measure&) { return std::optional(0.008); }, &none),
                      FigureFormat::svg);
    CHECK_THAT(script, Contains("OOM") && !Contains("twice"));
}
