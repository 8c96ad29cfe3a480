// Which trials are meant, tags, named queries, and comparisons over a database.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>

#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/choice.hpp"
#include "record/compare.hpp"
#include "record/compare_side.hpp"
#include "record/comparison.hpp"
#include "record/merge.hpp"
#include "record/migrations.hpp"
#include "record/query.hpp"
#include "record/schema.hpp"
#include "record/sqlite.hpp"
#include "record_samples.hpp"
#include "record_two_cells.hpp"

using namespace gnnbench;
using Catch::Contains;
using nlohmann::json;
using samples::add;
using samples::count;
using samples::Two;
using samples::WithOneMore;

TEST_CASE("trials that are not there are not meant") {
    const Two two;
    CHECK_THROWS_WITH(two.chosen("sampel"), Contains("'sampel' is not a tag, an experiment or a commit") &&
                                                Contains("did you mean 'sample'?"));
    CHECK_THROWS_WITH(two.chosen("tag:v1"), Contains("no trial is tagged 'v1'; tags: none"));
    CHECK_THROWS_WITH(two.chosen("experiment:x"), Contains("has no experiment 'x'"));
    CHECK_THROWS_WITH(two.chosen("where:gpu > 1"), Contains("did you mean 'gpus'?"));
    CHECK_THROWS_WITH(whole_uuid(two.path, "x"), Contains("there is no trial 'x'"));
    CHECK_THROWS_WITH(whole_uuid(two.path, ""), Contains("there is no trial"));
    CHECK_THROWS_WITH(whole_uuid(two.path, "a"), Contains("several trials begin with 'a'"));
    CHECK(two.chosen("commit:cccc") == 0);
}

TEST_CASE("trials are meant by experiment, commit, tag and expression") {
    Two two;
    CHECK(two.chosen("sample") == 24);
    CHECK(two.chosen("experiment:sample") == 24);
    CHECK(two.chosen("bbbb") == 8);
    CHECK(two.chosen("commit:aaaa,where:gpus = 1") == 8);
    CHECK(two.chosen("where:scheme = 'mg-gcn'") == 8);
    CHECK(two.chosen("sample,where:scheme IN ('mg-gcn', 'serial') AND gpus > 1") == 8);
    CHECK(whole_uuid(two.path, "a3") == "a3");
    const TagResult tagged =
        tag_trials(two.database, "v1",
                   {.trials = {"a1", "b2"}, .experiment = {}, .tag = {}, .commit = {}, .where = {}}, false);
    CHECK(tagged.meant == 2);
    CHECK(tagged.changed == 2);
    CHECK(two.chosen("v1") == 2);
    CHECK(two.chosen("tag:v1,commit:bbbb2222") == 1);
    CHECK(count(two.path, "tags WHERE tag = 'v1'") == 2);
    CHECK(tag_trials(two.database, "v1",
                     {.trials = {"a1"}, .experiment = {}, .tag = {}, .commit = {}, .where = {}}, true)
              .changed == 1);
    CHECK(two.chosen("v1") == 1);
}

TEST_CASE("every named query runs, with its argument") {
    const Two two;
    CHECK_THROWS_WITH(named_query("fastet"),
                      Contains("there is no named query 'fastet'") && Contains("did you mean 'fastest'?"));
    CHECK(named_queries().size() >= 10);
    for (const NamedQuery& q : named_queries()) {
        INFO(q.name);
        CHECK_FALSE(q.summary.empty());
        std::vector<SqlValue> arguments;
        if (!q.argument.empty()) arguments.emplace_back(std::string("a1"));
        const QueryResult result = query(two.path, q.sql, arguments);
        CHECK(result.columns.size() >= 3);
        if (q.name != "failures" && q.name != "payback" && q.name != "crossovers" && q.name != "evaluations")
            CHECK_FALSE(result.rows.empty());
    }
    const QueryResult fastest = query(two.path, named_query("fastest").sql);
    CHECK(fastest.rows.size() == 2);  // one for each number of GPUs
    const QueryResult epochs =
        query(two.path, named_query("epochs").sql, std::vector<SqlValue>{std::string("b7")});
    CHECK(epochs.rows.size() == 2);
}

TEST_CASE("of a trial the evaluation with the best validation score counts, the last of equals") {
    samples::Folder folder;
    const auto path = folder / "evaluated.sqlite";
    Database database(path);
    std::vector<json> lines = samples::whole_trial("t1", samples::cell("serial", 1));
    const auto evaluation =
        std::ranges::find(lines, "evaluation", [](const json& line) { return line.at("type"); });
    REQUIRE(evaluation != lines.end());
    const auto place = evaluation - lines.begin();
    json of_epoch = *evaluation;
    lines.erase(evaluation);
    for (const auto& [epoch, validation] : {std::pair{1, 0.7}, {2, 0.7}, {3, 0.6}}) {
        of_epoch["epoch"] = epoch;
        of_epoch["validation"] = validation;
        of_epoch["test"] = 0.1 * epoch;
        lines.insert(lines.begin() + place, of_epoch);
    }
    REQUIRE(database.apply(lines).problems.empty());
    const std::string experiment =
        std::get<std::string>(query(path, "SELECT name FROM experiment").rows.at(0).at(0));
    const QueryResult found = query(path, named_query("evaluations").sql, std::vector<SqlValue>{experiment});
    REQUIRE(found.rows.size() == 1);
    const auto column = [&](const char* name) {
        return found
            .rows[0][static_cast<std::size_t>(std::ranges::find(found.columns, name) - found.columns.begin())];
    };
    CHECK(std::get<std::int64_t>(column("epoch")) == 2);
    CHECK(std::get<double>(column("test")) == Approx(0.2));
}

TEST_CASE("a query ends at its time limit") {
    const Two two;
    const std::string endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    CHECK_THROWS_AS(query(two.path, endless, {}, 0.05), SpecError);
    CHECK_THROWS_WITH(query(two.path, endless, {}, 0.05),
                      Contains("took longer than 0.05 s") && Contains("--timeout"));
    CHECK(query(two.path, "SELECT 1", {}, 60).rows.size() == 1);
    CHECK_THROWS_WITH(query(two.path, "SELECT json('{')", {}, 60), Contains("malformed JSON"));
}

TEST_CASE("the schema can be asked for, and a wrong name gets the nearest") {
    const Two two;
    const QueryResult all = schema();
    CHECK(all.rows.size() > 20);
    const auto columns_of = [&](const std::string& name) {
        for (const SqlRow& row : all.rows)
            if (row[0] == SqlValue(name)) return std::get<std::string>(row[2]);
        return std::string();
    };
    for (const char* column : {"experiment", "scheme", "partitioner", "gpus", "wall_s"})
        CHECK_THAT(columns_of("epochs"), Contains(column));
    CHECK_THAT(columns_of("volumes"), Contains("scheme") && Contains("stated_sent_bytes"));
    CHECK(schema("latest").rows.size() > 30);
    CHECK_THROWS_WITH(schema("epoch_s"),
                      Contains("there is no view or table 'epoch_s'") && Contains("did you mean 'epochs'?"));
    CHECK_THROWS_WITH(query(two.path, "SELECT gpu FROM trials"), Contains("did you mean 'gpus'?"));
    CHECK_THROWS_WITH(query(two.path, "SELECT t.schem FROM trials t"), Contains("did you mean 'scheme'?"));
    CHECK_THROWS_WITH(query(two.path, "SELECT * FROM trails"), Contains("did you mean 'trials'?"));
    CHECK_THROWS_AS(query(two.path, "SELECT gpu FROM trials"), SpecError);
    CHECK(query(two.path, "SELECT DISTINCT experiment, scheme, gpus FROM epochs").rows.size() == 2);
}

TEST_CASE("an older database is brought up to date by a query that needs it, and by no other") {
    samples::Folder folder;
    const auto path = folder / "old.sqlite";
    Database(path).apply(samples::whole_trial("t1", samples::cell("serial", 1)));
    const WithOneMore newer;
    CHECK(query(path, "SELECT * FROM trials").rows.size() == 1);
    CHECK(query(path, "PRAGMA user_version").rows[0][0] == SqlValue(newer.before));
    CHECK(query(path, "SELECT * FROM more").rows.empty());
    CHECK(query(path, "PRAGMA user_version").rows[0][0] == SqlValue(newer.before + 1));
    CHECK(query(path, "SELECT trial FROM trials").rows[0][0] == SqlValue(std::string("t1")));
    CHECK(std::filesystem::exists(path.string() + fmt::format(".backup-v{}", newer.before)));
}

TEST_CASE("results of gnnbench 0.1 are refused, and not changed") {
    samples::Folder folder;
    const auto path = folder / "old.sqlite";
    {
        sqlite::Connection c(path, sqlite::Access::read_write);
        c.execute(
            "PRAGMA application_id = 0x474e4e42; PRAGMA user_version = 18; CREATE TABLE trial (id); "
            "CREATE TABLE epoch (id); CREATE TABLE cell (id)",
            "fill");
    }
    const auto sentence = Contains("holds results of gnnbench 0.1, which this version does not read");
    CHECK_THROWS_WITH(Database(path), sentence);
    CHECK_THROWS_WITH(read_comparison(path, "sample"), sentence);
    Two two;
    CHECK_THROWS_WITH(import_results(two.database, path), sentence);
    CHECK(query(path, "PRAGMA user_version").rows[0][0] == SqlValue(std::int64_t{18}));
}

TEST_CASE("scaling is analysed by named queries") {
    samples::Folder folder;
    const auto path = folder / "scaling.sqlite";
    Database database(path);
    const auto with = [&](const std::string& scheme, int gpus, const std::string& partitioner, double epoch_s,
                          double partition_s) {
        const std::string uuid = scheme + std::to_string(gpus) + partitioner;
        json begin = samples::trial(uuid, samples::cell(scheme, gpus, partitioner));
        json setup = samples::setup(uuid);
        setup["seconds"]["partition"] = partition_s;
        const std::vector<json> lines = {begin, setup, samples::epoch(uuid, 1, false, epoch_s, epoch_s),
                                         samples::outcome(uuid)};
        REQUIRE(database.apply(lines).problems.empty());
    };
    with("a", 1, "none", 4, 0);
    with("b", 1, "none", 5, 0);
    with("a", 4, "random", 2, 1);
    with("b", 4, "random", 1, 1);
    with("b", 4, "metis", 0.5, 9);
    const auto rows = [&](const char* name) {
        const QueryResult found = query(path, named_query(name).sql);
        std::vector<std::map<std::string, SqlValue>> all;
        for (const SqlRow& row : found.rows) {
            auto& one = all.emplace_back();
            for (std::size_t c = 0; c < row.size(); ++c) one[found.columns[c]] = row[c];
        }
        return all;
    };
    // 4 s on 1, 2 s on 4: speed-up 2, efficiency 1/2, serial fraction (1/2 − 1/4) / (1 − 1/4) = 1/3.
    bool found = false;
    for (const auto& row : rows("scaling")) {
        if (row.at("scheme") != SqlValue(std::string("a")) || row.at("gpus") != SqlValue(std::int64_t{4}))
            continue;
        found = true;
        CHECK(std::get<double>(row.at("speed_up")) == Approx(2));
        CHECK(std::get<double>(row.at("efficiency")) == Approx(0.5));
        CHECK(std::get<double>(row.at("serial_fraction")) == Approx(1.0 / 3));
    }
    CHECK(found);
    // metis costs 8 s more and saves 0.5 s an epoch.
    const auto payback = rows("payback");
    REQUIRE(payback.size() == 1);
    CHECK(std::get<double>(payback[0].at("epochs")) == Approx(16));
    const auto crossovers = rows("crossovers");
    REQUIRE(crossovers.size() == 1);
    CHECK(crossovers[0].at("scheme") == SqlValue(std::string("a")));
    CHECK(crossovers[0].at("overtaken_by") == SqlValue(std::string("b")));
    CHECK(crossovers[0].at("behind_from_gpus") == SqlValue(std::int64_t{4}));
    CHECK(crossovers[0].at("cpu") == SqlValue(std::string("Sample CPU")));
}

TEST_CASE("sides that cannot be compared") {
    const Two two;
    CHECK_THROWS_WITH(compare_sides(two.path, "sample", "commit:bbbb", "", {}), Contains("8 trials in common"));
    CHECK_THROWS_WITH(compare_sides(two.path, "commit:cccc", "commit:bbbb", "", {}),
                      Contains("no measured trial is 'commit:cccc'"));
    CHECK_THROWS_WITH(compare_sides(two.folder / "none", "a", "b", "", {}), Contains("there is no database"));
}

TEST_CASE("the same cell at two commits, by block") {
    const Two two;
    const ComparedSides sides = compare_sides(two.path, "commit:aaaa", "commit:bbbb", "gpus = 1", {});
    REQUIRE(sides.cells.size() == 1);
    const ComparedCell& c = sides.cells[0];
    CHECK(c.paired);
    CHECK(c.trials_a == 8);
    CHECK(c.verdict.ratio == Approx(1.2).epsilon(0.01));
    CHECK(c.verdict.judgement == Judgement::slower);
    CHECK(c.bytes_a == 100);
    CHECK(c.bytes_b == 100);
    CHECK(sides.compared_fields.empty());
    CHECK(compare_sides(two.path, "commit:aaaa", "commit:bbbb", "", {}).only_a == 1);
    CHECK(compare_sides(two.path, "commit:bbbb", "commit:aaaa,where:gpus = 1", "", {})
              .cells.at(0)
              .verdict.judgement == Judgement::faster);
}

TEST_CASE("sides measured one after the other have numbers and no verdict") {
    samples::Folder folder;
    const auto path = folder / "apart.sqlite";
    Database database(path);
    const CellRecord cell = samples::cell("serial", 1);
    // The machine was busy while B ran: 6.9 times slower.
    for (int n = 0; n < 8; ++n) add(database, "a" + std::to_string(n), cell, n, 1 + 0.001 * n);
    for (int n = 0; n < 12; ++n) add(database, "b" + std::to_string(n), cell, n, 6.9 + 0.001 * n, "bbbb2222");
    const ComparedSides apart = compare_sides(path, "commit:aaaa", "commit:bbbb", "", {});
    REQUIRE(apart.cells.size() == 1);
    CHECK_FALSE(apart.cells[0].paired);
    CHECK(apart.apart() == 1);
    CHECK(apart.cells[0].verdict.judgement == Judgement::unclear);
    CHECK(apart.cells[0].verdict.ratio == apart.cells[0].verdict.b_s / apart.cells[0].verdict.a_s);
    CHECK(apart.source_b.commit == "bbbb2222");
    // Six trials of each by turns, newer than those of their numbers, are enough; the others no longer matter.
    for (int n = 0; n < 6; ++n) {
        add(database, "a-again" + std::to_string(n), cell, n, 2 + 0.001 * n);
        add(database, "b-again" + std::to_string(n), cell, n, 2.6 + 0.001 * n, "bbbb2222");
    }
    const ComparedCell by_turns = compare_sides(path, "commit:aaaa", "commit:bbbb", "", {}).cells.at(0);
    CHECK(by_turns.paired);
    CHECK(by_turns.pairs == 6);
    CHECK(by_turns.trials_a == 8);
    CHECK(by_turns.trials_b == 12);
    CHECK(by_turns.verdict.judgement == Judgement::slower);
    CHECK(by_turns.verdict.ratio == Approx(1.3).epsilon(0.01));
    CHECK(by_turns.verdict.a_s == Approx(2.0025));
    CHECK(by_turns.verdict.ratio == by_turns.verdict.b_s / by_turns.verdict.a_s);
}

TEST_CASE("the sides differ in what both have, not in parameters that one plugin lacks") {
    samples::Folder folder;
    const auto path = folder / "fields.sqlite";
    Database database(path);
    const auto with = [&](const char* scheme, const char* what, json params, const json& model) {
        CellRecord c = samples::cell(scheme, 1);
        c.digest += what;
        c.identity["scheme"]["params"] = std::move(params);
        c.identity["model"].update(model);
        for (int n = 0; n < 2; ++n) add(database, c.digest + std::to_string(n), c, n, 1.0);
    };
    with("serial", "", {{"trainable_features", false}, {"overlap", true}}, json::object());
    with("mg-gcn", "", {{"tiling", "row"}, {"overlap", true}}, json::object());
    const auto differ = [&](const std::string& a, const std::string& b) {
        return compare_sides(path, "where:" + a, "where:" + b, "", {}).compared_fields;
    };
    CHECK(differ("scheme = 'serial'", "scheme = 'mg-gcn'") == std::vector<std::string>{"scheme"});
    with("cagnet-1d", "", {{"overlap", false}}, json::object());
    CHECK(differ("scheme = 'mg-gcn'", "scheme = 'cagnet-1d'") ==
          std::vector<std::string>{"scheme", "scheme.overlap"});
    // A field that some cells of both sides lack is not what the sides differ in.
    with("x", "-plain", json::object(), json::object());
    with("x", "-odd", json::object(), {{"epsilon", 0.5}});
    with("y", "", json::object(), json::object());
    const ComparedSides sides = compare_sides(path, "where:scheme = 'x'", "where:scheme = 'y'", "", {});
    CHECK(sides.compared_fields == std::vector<std::string>{"scheme"});
    CHECK(sides.cells.size() == 1);
    CHECK(sides.only_a == 1);
}

TEST_CASE("two schemes, in what else is alike") {
    Two two;
    const CellRecord other = samples::cell("cagnet-1d", 2);
    for (int n = 0; n < 3; ++n) add(two.database, "d" + std::to_string(n), other, n, 1.5);
    add(two.database, "d9", other, 9, 1.5, "aaaa1111", "crashed");
    const ComparedSides sides =
        compare_sides(two.path, "where:scheme = 'mg-gcn'", "where:scheme = 'cagnet-1d'", "", {});
    REQUIRE(sides.cells.size() == 1);
    CHECK(sides.compared_fields == std::vector<std::string>{"scheme"});
    CHECK(sides.cells[0].scheme_a == "mg-gcn");
    CHECK(sides.cells[0].scheme_b == "cagnet-1d");
    CHECK(sides.cells[0].trials_b == 3);
    CHECK(sides.cells[0].verdict.judgement == Judgement::unclear);  // three trials, after all of A's
    CHECK_FALSE(sides.cells[0].paired);
    CHECK(sides.cells[0].verdict.trials_wanted == 0);
}

TEST_CASE("of an experiment's trials those that were measured here come last, where the last one counts") {
    Two two;
    const auto path = two.folder / "theirs.sqlite";
    Database theirs(path);
    add(theirs, "z1", two.slow, 1, 9.0);
    import_results(two.database, path);
    const auto imported =
        std::get<std::int64_t>(query(two.path, "SELECT id FROM trial WHERE uuid = 'z1'").rows.at(0).at(0));
    const auto of_experiment = trials_of_side(two.database.connection(), "sample", "");
    CHECK(of_experiment.size() == 25);
    CHECK(of_experiment.front() == imported);
    CHECK(trials_of_side(two.database.connection(), "commit:aaaa", "").back() == imported);
    CHECK_THROWS_WITH(compare_sides(two.path, "sample", "commit:aaaa", "", {}), Contains("17 trials in common"));
    CHECK_THROWS_WITH(compare_sides(two.path, "commit:aaaa", "sample", "", {}), Contains("17 trials in common"));
}
