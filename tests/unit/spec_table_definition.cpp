// Definitions of tables and published.csv: what is wrong is said with its place; what is right means what it says.
#include <catch2/catch.hpp>

#include "spec/metrics.hpp"
#include "spec/table_definition.hpp"
#include "spec/table_keys.hpp"

using namespace gnnbench;
using Catch::Contains;

namespace {

constexpr const char* head = "table,row,column,value,unit,page,verbatim,erratum\n";

std::string mistakes(const std::string& yaml, const std::string& csv = "") {
    try {
        read_table_definition(yaml, "dir/t.yaml", csv.empty() ? "" : head + csv);
    } catch (const ExperimentError& e) {
        return e.what();
    }
    return "";
}

const std::string plain = "title: T\nsource: S\nrows: [a, b]\ncolumns: [x]\n";

}  // namespace

TEST_CASE("what is wrong in a definition is said with its line, all of it at once") {
    CHECK_THAT(mistakes("title: T\n"),
               Contains("t.yaml:1:1: source: is required") && Contains("rows: is required"));
    CHECK_THAT(mistakes(plain + "colums: [y]\n"),
               Contains("t.yaml:5:1: colums: there is no such key here") && Contains("did you mean 'columns'?"));
    CHECK_THAT(mistakes(plain + "best: fastest\n"),
               Contains("5:7: best: found the text 'fastest'; allowed: none, lowest, highest"));
    CHECK_THAT(mistakes(plain + "cell: {metric: epoch}\n"),
               Contains("5:16: metric: there is no metric 'epoch'") && Contains("did you mean 'epoch_s'?"));
    CHECK_THAT(mistakes(plain + "cell: {metric: epoch_s, unit: MB}\n"),
               Contains("epoch_s is in 's', which 'MB' is no unit of"));
    CHECK_THAT(mistakes(plain + "cell: {metric: training_s, until: 80}\n"),
               Contains("5:35: until: expected a number from 0 to 1; found the integer 80"));
    CHECK_THAT(mistakes(plain + "cell: {metric: epoch_s, until: 0.8}\n"),
               Contains("until: is of training_s; the metric is epoch_s"));
    CHECK(mistakes(plain + "cell: {metric: training_s, until: 0.8}\n").empty());
    CHECK_THAT(mistakes(plain + "where: {gpu: 1}\n"),
               Contains("5:9: gpu: a cell has no such field") && Contains("'gpus'"));
    CHECK_THAT(mistakes(plain + "where: {hidden: 64}\n"), Contains("a cell has no such field"));
    CHECK_THAT(mistakes(plain + "where: [{gpus: {}}]\n"), Contains("expected a value or a list of values"));
    CHECK_THAT(mistakes(plain + "cell: {metric: epoch_s, relative_to: gpus = 1}\n"),
               Contains("relative_to: expected a mapping of fields to values"));
    CHECK_THAT(mistakes("title: T\nsource: S\nrows: [{name: r, against: {gpus: 1}}]\ncolumns: [x]\n"),
               Contains("against: no place of r compares with another cell"));
    CHECK(mistakes(plain + "where: [gpus > 2, {scheme.overlap: [false, null]}]\n").empty());
    CHECK_THAT(mistakes(plain + "plot: {x_label: n}\n"), Contains("kind: is required"));
    CHECK_THAT(mistakes("title: T\nsource: S\nrows: [a, a]\ncolumns: {over: gpus}\n"),
               Contains("{over: field, values: [...]}"));
    CHECK_THAT(mistakes("title: T\nsource: S\nrows: [a, a]\ncolumns: [x]\n"),
               Contains("3:11: a: two lines have this name"));
    CHECK_THAT(mistakes("title: [\n"), Contains("syntax error"));
    CHECK_THAT(mistakes("- a\n"), Contains("expected a mapping; found a list"));
}

TEST_CASE("a table's places and values have limits, which its errors name") {
    std::string lines, values;
    for (int i = 0; i < 101; ++i) lines += (i ? ", " : "") + std::to_string(i);
    for (int i = 0; i < 1001; ++i) values += (i ? ", " : "") + std::to_string(i);
    const std::string over = "{over: gpus, values: [" + lines + "]}\n";
    CHECK_THAT(mistakes("title: T\nsource: S\nrows: " + over + "columns: " + over),
               Contains("4:10: columns: 101 rows and 101 columns are 10201 places; a table has at most 10000"));
    CHECK_THAT(
        mistakes("title: T\nsource: S\nrows: [" + lines + "]\ncolumns: [x]\nwhere: {gpus: [" + values + "]}\n"),
        Contains("where: compares with 1001 values; at most 1000 are allowed"));
    CHECK(mistakes("title: T\nsource: S\nrows: " + over + "columns: [x]\n").empty());
}

TEST_CASE("nothing of another program's file is repeated as a table") {
    for (const char* text : {"password: secret\nuser: root\n", "root:x:secret\n"}) {
        const std::string said = mistakes(text);
        CHECK_THAT(said,
                   Contains("none of its keys is a table's") || Contains("expected a mapping; found a text"));
        CHECK_THAT(said, !Contains("secret") && !Contains("root"));
    }
    try {
        read_table_definition(plain, "dir/t.yaml", "user,secret\nroot,hunter2\n");
        FAIL("expected an error");
    } catch (const ExperimentError& e) {
        CHECK_THAT(e.what(), Contains("expected the columns") && !Contains("root") && !Contains("secret"));
    }
}

TEST_CASE("what is wrong in published.csv is said with its line") {
    CHECK_THAT(mistakes(plain, "t,a,x,1,s,p. 1,1\n"),
               Contains("published.csv:2:1: expected 8 fields") && Contains("found 7"));
    CHECK_THAT(mistakes(plain, "t,a,x,1,s,,1,\n"), Contains("one of them is empty"));
    CHECK_THAT(mistakes(plain, "t,a,x,1,min,p. 1,1,\n"), Contains("there is no unit 'min'"));
    CHECK_THAT(mistakes(plain, "t,c,x,1,s,p. 1,1,\n"), Contains("dir/t has no such row; allowed: a, b"));
    CHECK_THAT(mistakes(plain, "t,a,y,1,s,p. 1,1,\n"), Contains("no such column"));
    CHECK_THAT(mistakes(plain, "t,a,x,1,s,p. 1,1,\nt,a,x,2,s,p. 1,2,\n"),
               Contains("published.csv:3:1: a, x: is given twice"));
    CHECK_THROWS_WITH(read_table_definition(plain, "dir/t.yaml", "row,column\n"),
                      Contains("expected the columns table,row"));
    CHECK(mistakes(plain, "other,nowhere,x,1,s,p. 1,1,\n").empty());
}

TEST_CASE("what a command counted has its place, and says where it came from") {
    const std::string columns = "table,row,column,value,unit,dataset,gpus,of,command,date,commit\n";
    const auto complaint = [&](const std::string& line) -> std::string {
        try {
            read_table_definition(plain, "dir/t.yaml", "", columns + line);
        } catch (const ExperimentError& e) {
            return e.what();
        }
        return "";
    };
    CHECK_THAT(complaint("t,a,x,1,,d,,g,c,2026-01-01\n"), Contains("measured.csv:2:1: expected 11 fields"));
    CHECK_THAT(complaint("t,a,x,one,,d,,g,c,2026-01-01,\n"), Contains("expected a number as value; found 'one'"));
    CHECK_THAT(complaint("t,a,x,1,,d,,,c,2026-01-01,\n"), Contains("needs its provenance"));
    CHECK_THAT(complaint("t,c,x,1,,d,,g,c,2026-01-01,\n"), Contains("dir/t has no such row"));
    CHECK_THAT(complaint("t,a,x,1,,d,,g,c,2026-01-01,\nt,a,x,2,,d,,g,c,2026-01-01,\n"),
               Contains("is given twice"));
    CHECK(complaint("other,c,x,1,,d,,g,c,2026-01-01,\n").empty());
    const TableDefinition t = read_table_definition(
        plain, "dir/t.yaml", "", columns + "t,a,x,1.5,ms,d,8,a graph,gnnbench x,2026-01-01,abc\n");
    const Counted& c = t.counted.at({"a", "x"});
    CHECK(c.value == 1.5);
    CHECK(c.of == "a graph");
    CHECK(c.commit == "abc");
    CHECK(c.dataset == "d");
    CHECK(c.gpus == "8");
}

TEST_CASE("a definition means what it says") {
    const TableDefinition t = read_table_definition(
        "title: T\nsource: S\nexperiments: e\nwhere: {scheme: mg-gcn}\ncell: {metric: epoch_s, unit: ms}\n"
        "rows: {over: gpus, values: [1, 2]}\n"
        "columns:\n  - {name: A, section: group, label: long A, where: {dataset: [a, a-small]}}\n"
        "  - {name: B, cell: {decimals: 2, speed_up_over: {gpus: 1}}}\n  - {name: C, measured: False}\n"
        "show: [ours]\nbest: highest\nfailures: dash\nnotes: [one, two]\nplot: {kind: scaling, over: columns, "
        "panels: True}\n",
        "dir/t.yaml",
        std::string(head) +
            "t,1,A,0.5,s,\"p. 3, Table 2\",\"a \"\"quoted\"\" word\",\"two\nlines\"\nt,2,C,OOM,,p. 3,-,\n");
    CHECK(t.name == "dir/t");
    CHECK(under_profile(t.experiments, "small") == std::vector<std::string>{"e-small"});
    CHECK(under_profile(t.experiments, "") == std::vector<std::string>{"e"});
    REQUIRE(t.rows.size() == 2);
    CHECK(t.rows[1].where == Conditions{{"gpus", {"2"}}});
    CHECK(t.columns[0].where == Conditions{{"dataset", {"a", "a-small"}}});
    CHECK(t.columns[0].label == "long A");
    REQUIRE(t.columns[1].measure);
    CHECK(t.columns[1].measure->metric == "epoch_s");
    CHECK(t.columns[1].measure->against == Against::speed_up_over);
    CHECK(t.columns[1].measure->base == Conditions{{"gpus", {"1"}}});
    CHECK_FALSE(t.columns[2].measured);
    CHECK_FALSE(t.show_ratio);
    CHECK(t.best == Best::highest);
    CHECK(t.failures == FailureStyle::dash);
    CHECK(t.notes.size() == 2);
    REQUIRE(t.plot);
    CHECK((t.plot->log_x && t.plot->log_y && t.plot->over_columns && t.plot->panels));
    const Published& p = t.published.at({"1", "A"});
    CHECK(p.value == 0.5);
    CHECK(p.page == "p. 3, Table 2");
    CHECK(p.verbatim == "a \"quoted\" word");
    CHECK(p.erratum == "two\nlines");
    CHECK_FALSE(t.published.at({"2", "C"}).value);
}

TEST_CASE("values of lines are those that cells have, however they are written") {
    const TableDefinition t = read_table_definition(
        "title: T\nsource: S\nexperiments: e\ncell: {metric: epoch_s, unit: ms}\n"
        "rows: {over: train.lr, values: [1e-2, 0.10, 2]}\n"
        "columns: [{name: A, where: {scheme: a, scheme.overlap: [True, FALSE]}}]\n",
        "dir/t.yaml", head);
    REQUIRE(t.rows.size() == 3);
    CHECK(t.rows[0].where == Conditions{{"train.lr", {"0.01"}}});
    CHECK(t.rows[0].label == "1e-2");
    CHECK(t.rows[1].where == Conditions{{"train.lr", {"0.1"}}});
    CHECK(t.columns[0].where == Conditions{{"scheme", {"a"}}, {"scheme.overlap", {"true", "false"}}});
    CHECK(t.rows[2].where == Conditions{{"train.lr", {"2"}}});
}

TEST_CASE("a definition is told from an experiment") {
    CHECK(is_table_definition(plain));
    CHECK_FALSE(is_table_definition("name: n\nmatrix: {gpus: [1]}\n"));
    CHECK_FALSE(is_table_definition("rows: [\n"));
}

TEST_CASE("declarations of tables are sound") {
    for (const TableKey& k : table_keys()) {
        INFO(k.owner << "." << k.name);
        CHECK(!k.help.ends_with('.'));
        CHECK((k.type == TableKeyType::word || k.type == TableKeyType::words) == !k.words.empty());
    }
    for (const Metric& m : metrics()) CHECK((m.unit.empty() || find_unit(m.unit)));
}
