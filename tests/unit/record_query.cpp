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
