// Merging two databases: what is new comes over whole, once, and with where it came from.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/merge.hpp"
#include "record/query.hpp"
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

TEST_CASE("what is no results database is not imported") {
    Two two;
    CHECK_THROWS_WITH(import_results(two.database, two.folder / "none"), Contains("there is no such file"));
    CHECK_THROWS_WITH(import_results(two.database, two.path), Contains("is this database itself"));
    sqlite::Connection(two.folder / "other", sqlite::Access::read_write).execute("CREATE TABLE mine (x)", "make");
    CHECK_THROWS_WITH(import_results(two.database, two.folder / "other"), Contains("has no trials"));
}

TEST_CASE("a database of an older schema is imported from a copy") {
    samples::Folder folder;
    const auto path = folder / "old.sqlite";
    json begin = samples::trial("old-trial", samples::cell("old", 1));
    begin["experiment"] = "old";
    Database(path).apply(
        std::vector<json>{begin, samples::setup("old-trial"), samples::outcome("old-trial", "ok")});
    const WithOneMore newer;
    Two two;
    // What others may have left under a name that can be guessed is neither used nor removed.
    const auto guessed =
        std::filesystem::temp_directory_path() / fmt::format("gnnbench-import-{}.sqlite", ::getpid());
    std::ofstream(guessed) << "another's";
    CHECK(import_results(two.database, path).trials == 1);
    std::ifstream again(guessed);
    std::string kept;
    CHECK((std::getline(again, kept) && kept == "another's"));
    std::filesystem::remove(guessed);
    CHECK(count(two.path, "trials WHERE trial = 'old-trial' AND experiment = 'old'") == 1);
    const sqlite::Connection old(path, sqlite::Access::read_only);
    CHECK(old.integer("PRAGMA user_version", "read") == newer.before);  // not changed
    CHECK_FALSE(std::filesystem::exists(path.string() + fmt::format(".backup-v{}", newer.before)));
}

TEST_CASE("an import takes over what is new, once, with where it came from") {
    Two two;
    const auto path = two.folder / "mine.sqlite";
    Database mine(path);
    add(mine, "a1", two.slow, 1, 2.0);  // an exact duplicate
    add(mine, "z1", samples::cell("sa-1d", 4), 0, 3.0);
    tag_trials(two.database, "v1", {.trials = {"c2"}, .experiment = {}, .tag = {}, .commit = {}, .where = {}},
               false);
    REQUIRE(two.database.apply(std::vector<json>{samples::trial("running", two.fast, 20)}).problems.empty());

    const MergeResult r = import_results(mine, two.path);
    CHECK(r.trials == 23);
    CHECK(r.already_present == 1);
    CHECK(r.unfinished == 1);
    CHECK(r.cells == 1);
    CHECK(r.machines == 0);
    CHECK(count(path, "trial") == 25);
    CHECK(count(path, "imports") == 23);
    CHECK(count(path, "tags WHERE tag = 'v1' AND trial = 'c2'") == 1);
    // All of a trial came over, whatever row ids it has.
    for (const char* table : {"epochs", "phases", "volumes"}) {
        INFO(table);
        const std::string of = fmt::format("{} WHERE trial = 'b5'", table);
        CHECK(count(path, of) > 0);
        CHECK(count(path, of) == count(two.path, of));
    }
    CHECK(query(path, "SELECT epoch_s, provenance, machine, block FROM trials WHERE trial = 'b5'").rows ==
          query(two.path, "SELECT epoch_s, provenance, machine, block FROM trials WHERE trial = 'b5'").rows);
    CHECK(query(path, "PRAGMA foreign_key_check").rows.empty());
    const MergeResult again = import_results(mine, two.path);
    CHECK(again.trials == 0);
    CHECK(again.already_present == 24);
    CHECK(count(path, "trial") == 25);
}
