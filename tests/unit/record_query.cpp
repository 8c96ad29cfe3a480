// SQL from outside: it reads, and does nothing else.
#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "record/database.hpp"
#include "record/query.hpp"
#include "record_rows.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;
using samples::rows;

TEST_CASE("query reads; SQLite itself refuses to write") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    CHECK_THROWS_WITH(query(path, "SELECT 1"), Catch::Contains("there is no database"));
    Database d(path);
    d.apply(samples::whole_trial("t1", samples::cell("serial", 1)));
    for (const char* sql : {"DELETE FROM trial", "CREATE TABLE mine (x)", "UPDATE trial SET status = 'ok'",
                            "INSERT INTO trial (uuid) VALUES ('x')", "DROP VIEW trials"}) {
        CAPTURE(sql);
        CHECK_THROWS_AS(query(path, sql), SpecError);
        CHECK_THROWS_WITH(query(path, sql), Catch::Contains("attempt to write a readonly database"));
    }
    // No way round through another file either.
    for (const std::string& sql : {"ATTACH '" + (folder / "other").string() + "' AS o",
                                   "VACUUM INTO '" + (folder / "other").string() + "'"}) {
        CAPTURE(sql);
        CHECK_THROWS_AS(query(path, sql), SpecError);
        CHECK_FALSE(std::filesystem::exists(folder / "other"));
    }
    CHECK_THROWS_WITH(query(path, "SELEC 1"), Catch::Contains("syntax error"));
    CHECK_THROWS_WITH(query(path, "SELECT x FROM nowhere"), Catch::Contains("no such table: nowhere"));
    CHECK_THROWS_WITH(query(path, "SELECT 1; SELECT 2"), Catch::Contains("more than one"));
    CHECK_THROWS_AS(query(path, " ; "), SpecError);
    CHECK(rows(path, "SELECT 1, 2.5, 'three', NULL; -- done\n") == json{{1, 2.5, "three", nullptr}});
}

TEST_CASE("an expression over cells leaves every table, view and named query with rows of those alone") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const CellRecord one = samples::cell("serial", 1), two = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "", std::vector<CellRecord>{one, two});
    d.apply(samples::whole_trial("t1", one));
    d.apply(samples::whole_trial("t2", two));
    const auto count = [&](const std::string& relation, const std::string& where) {
        return std::get<std::int64_t>(
            query(path, "SELECT count(*) FROM " + relation, {}, 0, where).rows.at(0).at(0));
    };
    for (const char* relation :
         {"cell", "trial", "experiment_cell", "trials", "cells", "latest", "counted_trials", "cell_times",
          "speed_ups", "compared_trials", "setups", "epochs", "volumes", "epoch", "rank_epoch", "rank_volume",
          "stated_volume", "evaluation", "trial_rank"}) {
        CAPTURE(relation);
        CHECK(count(relation, "gpus > 2") == 0);
        CHECK(count(relation, "model.hidden = '64'") == count(relation, ""));
        CHECK(count(relation, "scheme = 'mg-gcn'") + count(relation, "scheme = 'serial'") == count(relation, ""));
        CHECK(count(relation, "scheme = 'mg-gcn'") > 0);
    }
    for (const NamedQuery& named : named_queries()) {
        CAPTURE(named.name);
        const std::vector<SqlValue> trial{std::string("t2")};
        const auto rows_where = [&](const std::string& where) {
            return query(path, named.sql, named.argument.empty() ? std::vector<SqlValue>() : trial, 0, where).rows;
        };
        CHECK(rows_where("model.hidden = '64'") == rows_where(""));
        // Every experiment is listed, with no trial where none is chosen.
        if (named.name == "experiments")
            CHECK(rows_where("gpus > 2") != rows_where(""));
        else
            CHECK(rows_where("gpus > 2").empty());
    }
    CHECK_THROWS_WITH(count("trials", "scheem = 'x'"), Catch::Contains("did you mean 'scheme'?"));
    CHECK_THROWS_WITH(query(path, "DELETE FROM main.trial", {}, 0, "gpus = 1"), Catch::Contains("readonly"));
}
