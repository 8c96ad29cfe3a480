#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <fstream>

#include <gnnbench/error.hpp>

#include "record/database.hpp"
#include "record/migrations.hpp"
#include "record/query.hpp"
#include "record/sqlite.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

/// The result as JSON rows, for short comparisons.
json rows(const std::filesystem::path& database, const std::string& sql) {
    json all = json::array();
    for (const auto& row : query(database, sql).rows) {
        json one = json::array();
        for (const SqlValue& v : row)
            std::visit(
                [&](const auto& x) {
                    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>)
                        one.push_back(nullptr);
                    else
                        one.push_back(x);
                },
                v);
        all.push_back(one);
    }
    return all;
}

/// Every table's content, to compare two states of a database.
json everything(const std::filesystem::path& database) {
    json all;
    for (const json& t : rows(database, "SELECT name FROM sqlite_schema WHERE type = 'table'")) {
        const std::string name = t[0];
        all[name] = rows(database, "SELECT * FROM " + name);
    }
    return all;
}

}  // namespace

TEST_CASE("a file that is no results database is refused") {
    samples::Folder folder;
    std::ofstream(folder / "text") << std::string(5000, 'x');
    CHECK_THROWS_AS(Database(folder / "text"), EnvironmentError);
    CHECK_THROWS_WITH(Database(folder / "text"), Catch::Contains("not a database"));

    sqlite::Connection(folder / "other", sqlite::Access::read_write).execute("CREATE TABLE mine (x)", "make");
    CHECK_THROWS_WITH(Database(folder / "other"), Catch::Contains("another program"));

    Database(folder / "newer");
    sqlite::Connection(folder / "newer", sqlite::Access::read_write).execute("PRAGMA user_version = 99", "age");
    CHECK_THROWS_WITH(Database(folder / "newer"), Catch::Contains("schema version 99"));
    CHECK_THROWS_AS(Database("/proc/nowhere/r.sqlite"), SpecError);
}

TEST_CASE("a read-only database or folder: EnvironmentError, with what to do") {
    samples::Folder folder;
    const std::filesystem::path path = folder / "r.sqlite";
    {
        Database make(path);
    }
    const auto attempt = [&] {
        return samples::in_child([&] {
            if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 3;  // root may write anything
            try {
                Database open(path);
                return 1;
            } catch (const EnvironmentError& e) {
                const std::string text = e.what();
                return text.find("r.sqlite") != std::string::npos && text.find("--database") != std::string::npos
                           ? 0
                           : 2;
            }
        });
    };
    ::chmod(path.c_str(), 0444);
    CHECK(attempt() == 0);
    ::chmod(path.c_str(), 0666);
    std::filesystem::remove(path.string() + "-wal");
    std::filesystem::remove(path.string() + "-shm");
    ::chmod(path.parent_path().c_str(), 0555);
    CHECK(attempt() == 0);
    // It can still be read.
    CHECK(samples::in_child([&] {
              if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 3;
              return rows(path, "SELECT count(*) FROM trials") == json{{0}} ? 0 : 1;
          }) == 0);
    ::chmod(path.parent_path().c_str(), 0755);
}

TEST_CASE("several processes may make one database at once") {
    samples::Folder folder;
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        children.push_back(::fork());
        if (children.back() == 0) {
            int code = 1;
            try {
                Database d(folder / "r.sqlite");
                code =
                    d.apply(samples::whole_trial("t" + std::to_string(i), samples::cell("serial", 1), i)).lines ==
                            10
                        ? 0
                        : 2;
            } catch (const std::exception& e) {
                (void)!::write(2, e.what(), std::strlen(e.what()));
            }
            ::_exit(code);
        }
    }
    for (const pid_t child : children) {
        int status = 1;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    CHECK(rows(folder / "r.sqlite", "SELECT count(*), sum(epoch_s) FROM trials") == json{{8, 24.0}});
    CHECK(rows(folder / "r.sqlite", "PRAGMA integrity_check") == json{{"ok"}});
}

TEST_CASE("from nothing, a database has the newest schema") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    {
        Database d(path);
    }
    CHECK(rows(path, "PRAGMA user_version")[0][0] == shipped_migrations().size());
    CHECK(rows(path, "PRAGMA journal_mode")[0][0] == "wal");
    CHECK_FALSE(std::filesystem::exists(folder / "r.sqlite.backup-v0"));
}

TEST_CASE("migrating an older database keeps a copy; a migration that fails changes nothing") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    const Migration first{"0001_first", "CREATE TABLE a (x); INSERT INTO a VALUES (1)"};
    const Migration second{"0002_second", "ALTER TABLE a ADD COLUMN y DEFAULT 5; UPDATE a SET x = 2"};
    const Migration broken{"0003_broken", "UPDATE a SET x = 3; DELETE FROM nowhere"};
    {
        sqlite::Connection c(path, sqlite::Access::read_write);
        c.execute("PRAGMA journal_mode = WAL", "use WAL");
        migrate(c, std::vector{first});
        CHECK_THROWS_WITH(migrate(c, std::vector{first, second, broken}),
                          Catch::Contains("0003_broken") && Catch::Contains("no such table: nowhere"));
        CHECK(rows(path, "SELECT * FROM a")[0] == json::array({1}));
        CHECK(rows(path, "PRAGMA user_version")[0][0] == 1);
        migrate(c, std::vector{first, second});
        migrate(c, std::vector{first, second});
        CHECK(rows(path, "SELECT x, y FROM a")[0] == json::array({2, 5}));
        CHECK_THROWS_WITH(migrate(c, std::vector{first}), Catch::Contains("newer gnnbench"));
    }
    CHECK(rows(folder / "r.sqlite.backup-v1", "SELECT * FROM a")[0] == json::array({1}));
    CHECK(rows(folder / "r.sqlite.backup-v1-2", "PRAGMA user_version")[0][0] == 1);
}

TEST_CASE("notes of a trial's end replace those of its set-up; an end without notes leaves them") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const auto notes_after = [&](const std::string& uuid, const json& end) {
        std::vector<json> lines = samples::whole_trial(uuid, samples::cell("plexus-3d", 1));
        lines[2]["notes"] = "grid: 2x1x1; dW products: not tuned yet";
        lines[8] = end;
        lines[8]["type"] = "end";
        lines[8]["trial"] = uuid;
        d.apply(lines);
        return rows(folder / "r.sqlite", "SELECT notes FROM trials WHERE trial = '" + uuid + "'")[0][0];
    };
    CHECK(notes_after("a", {{"status", "failed"}, {"reason", "a rank was lost"}}) ==
          "grid: 2x1x1; dW products: not tuned yet");
    CHECK(notes_after("b", {{"status", "ok"}, {"reason", ""}, {"notes", ""}}) ==
          "grid: 2x1x1; dW products: not tuned yet");
    CHECK(
        notes_after("c", {{"status", "ok"}, {"reason", ""}, {"notes", "grid: 2x1x1; dW products: layer 0 TN"}}) ==
        "grid: 2x1x1; dW products: layer 0 TN");
}

TEST_CASE("a trial's summary, views and counted volumes, by hand") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const ApplyResult result = d.apply(samples::whole_trial("t1", samples::cell("mg-gcn", 2)));
    CHECK(result.lines == 10);
    CHECK(result.problems.empty());
    // The warm-up epoch (60 s) is no part of it; slowest ranks took 2, 3 and 7 s.
    CHECK(
        rows(path,
             "SELECT status, epoch_s, exposed_comm_s, sent_bytes_per_epoch, messages_per_epoch, measured_epochs, "
             "final_loss, test_accuracy, validation_accuracy, peak_memory_bytes, volume_as_stated FROM trials") ==
        json{{"ok", 3.0, 0.75, 100, 2, 3, 0.25, 0.8, nullptr, 1007, 1}});
    CHECK(
        rows(path, "SELECT edge_cut, synthetic, aggregated_input, approximation, device, log_tail FROM trials") ==
        json{{4, "graph, labels", 1, "", "Sample CPU", "last words"}});
    CHECK(rows(path, "SELECT rank, wall_s, exposed_comm_s, slowest_rank_s FROM epochs WHERE epoch = 2") ==
          json{{0, 3.0, 0.75, 3.0}, {1, 1.0, 0.25, 3.0}});
    CHECK(rows(path, "SELECT sum(seconds) FROM phases WHERE epoch = 3 AND rank = 0") == json{{7.0}});
    CHECK(rows(path, "SELECT sent_bytes, stated_sent_bytes, stated_messages FROM volumes WHERE epoch = 1") ==
          json{{100, 100, 1}, {0, 0, 1}});
    CHECK(rows(path, "SELECT memory_bytes, stated_memory_bytes FROM trial_rank ORDER BY rank") ==
          json{{500, 480}, {600, 600}});
    CHECK(rows(path, "SELECT trial, ok_trials FROM latest JOIN cells USING (cell)") == R"([["t1", 1]])"_json);
}

TEST_CASE("applying lines again, in whole or in part, changes nothing") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    auto lines = samples::whole_trial("t1", samples::cell("mg-gcn", 2));
    lines.insert(lines.end() - 1, json{{"type", "verification"},
                                       {"trial", "t1"},
                                       {"status", "verified"},
                                       {"reason", ""},
                                       {"loss_error", 1e-7},
                                       {"gradient_error", 1e-6},
                                       {"volume_equal", true},
                                       {"sampled_vertices", 0},
                                       {"detail", ""}});
    d.apply(lines);
    const json before = everything(path);
    d.apply(lines);
    CHECK(everything(path) == before);
    for (const json& line : lines) {
        d.apply(std::vector<json>{line});
        CAPTURE(line.at("type"));
        CHECK(everything(path) == before);
    }
}

TEST_CASE("counted volume that differs from the stated one is seen") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    auto lines = samples::whole_trial("more", samples::cell("mg-gcn", 2));
    lines[5]["ranks"][0]["volume"][0]["sent_bytes"] = 101;
    d.apply(lines);
    lines = samples::whole_trial("missing", samples::cell("mg-gcn", 2));
    lines[5]["ranks"][1]["volume"] = json::array();
    d.apply(lines);
    lines = samples::whole_trial("unstated-row", samples::cell("mg-gcn", 2));
    lines[5]["ranks"][1]["volume"].push_back(samples::volume_row(8, 8, 1, "metadata"));
    d.apply(lines);
    lines = samples::whole_trial("nothing-stated", samples::cell("mg-gcn", 2));
    lines[2].erase("stated");
    d.apply(lines);
    CHECK(rows(path, "SELECT trial, volume_as_stated FROM trials ORDER BY trial") ==
          R"([["missing", 0], ["more", 0], ["nothing-stated", null], ["unstated-row", 0]])"_json);
}

TEST_CASE("a full disk: an error that says what to do, and what was there stays") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    d.apply(samples::whole_trial("t1", samples::cell("mg-gcn", 2)));
    const json before = everything(path);
    d.connection().execute("PRAGMA max_page_count = 1", "leave no room");  // as many as there are already
    const auto fill = [&] {
        for (int t = 0; t < 500; ++t)
            d.apply(samples::whole_trial("more-" + std::to_string(t), samples::cell("mg-gcn", 2), t));
    };
    CHECK_THROWS_AS(fill(), EnvironmentError);
    CHECK_THROWS_WITH(fill(), Catch::Contains("database or disk is full") && Catch::Contains("Free space"));
    CHECK(rows(path, "PRAGMA integrity_check")[0][0] == "ok");
    CHECK(rows(path, "SELECT status FROM trials WHERE trial = 't1'")[0][0] == "ok");
    CHECK(everything(path).at("cell") == before.at("cell"));
    // With room again, the same lines are applied as if nothing had happened.
    d.connection().execute("PRAGMA max_page_count = 1000000", "make room");
    fill();
    CHECK(rows(path, "SELECT count(*) FROM trials WHERE status = 'ok'")[0][0] == 501);
}

TEST_CASE("a line that breaks the contract is named and left out whole") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    auto lines = samples::whole_trial("t1", samples::cell("mg-gcn", 2));
    lines[4]["ranks"][1]["volume"][0]["content"] = "gossip";
    lines[5].erase("ranks");
    lines[6]["trial"] = "unknown";
    lines[7]["type"] = "surprise";
    const ApplyResult result = d.apply(lines);
    CHECK(result.lines == 6);
    REQUIRE(result.problems.size() == 4);
    CHECK_THAT(result.problems[0], Catch::Contains("CHECK constraint"));
    CHECK_THAT(result.problems[1], Catch::Contains("ranks"));
    CHECK_THAT(result.problems[2], Catch::Contains("unknown"));
    CHECK_THAT(result.problems[3], Catch::Contains("surprise"));
    CHECK(rows(folder / "r.sqlite", "SELECT DISTINCT epoch FROM epochs") == json{{0}});
    CHECK(rows(folder / "r.sqlite", "SELECT status, epoch_s FROM trials") == R"([["ok", null]])"_json);
}

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

TEST_CASE("the newest conclusive trial of a number counts; other machines' do not") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const CellRecord c = samples::cell("serial", 1);
    const std::string here = machine_fingerprint(samples::machine);
    const auto add = [&](const std::string& uuid, int number, const std::string& status, const std::string& when) {
        d.apply(std::vector<json>{samples::trial(uuid, c, number, when), samples::outcome(uuid, status)});
    };
    CHECK(d.trials_of(c.digest, here).empty());
    add("a", 0, "failed", "2026-01-01T00:00:00.000Z");
    add("b", 0, "ok", "2026-01-02T00:00:00.000Z");
    add("c", 0, "interrupted", "2026-01-03T00:00:00.000Z");
    add("d", 1, "skipped", "2026-01-01T00:00:00.000Z");
    add("e", 1, "interrupted", "2026-01-02T00:00:00.000Z");
    const auto states = d.trials_of(c.digest, here);
    REQUIRE(states.size() == 2);
    CHECK(states[0].trial == "b");
    CHECK(states[0].status == TrialStatus::ok);
    CHECK(states[0].build == "b1");
    CHECK(states[0].conclusive == 2);
    CHECK(states[1].status == TrialStatus::interrupted);
    CHECK(states[1].conclusive == 0);
    CHECK(d.trials_of(c.digest, "elsewhere").empty());

    CHECK(remove_trials(d, std::vector<std::string>{"b", "nobody"}) == 1);
    CHECK(d.trials_of(c.digest, here)[0].trial == "a");
}

TEST_CASE("a verification is found by its key; one that crashed says so") {
    samples::Folder folder;
    Database d(folder / "r.sqlite");
    const CellRecord c = samples::cell("mg-gcn", 2);
    CHECK_FALSE(d.verification(c.verification_key));
    json start = samples::trial("v1", c);
    start["purpose"] = "verify";
    d.apply(std::vector<json>{start, samples::outcome("v1", "crashed", "signal 11")});
    CHECK(d.verification(c.verification_key)->status == VerificationStatus::unverified);
    CHECK(d.verification(c.verification_key)->reason == "its verification ended as crashed: signal 11");
    start["trial"] = "v2";
    d.apply(std::vector<json>{start,
                              {{"type", "verification"},
                               {"trial", "v2"},
                               {"status", "verified"},
                               {"reason", ""},
                               {"loss_error", 1e-7},
                               {"gradient_error", 2e-6},
                               {"volume_equal", true},
                               {"sampled_vertices", 0},
                               {"detail", ""}},
                              samples::outcome("v2")});
    const auto v = d.verification(c.verification_key);
    CHECK(v->status == VerificationStatus::verified);
    CHECK(v->gradient_error == 2e-6);
    CHECK(v->volume_equal == true);
    // A verification is not a measured trial.
    CHECK(d.trials_of(c.digest, machine_fingerprint(samples::machine)).empty());
}

TEST_CASE("an experiment's cells are those it has now") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    Database d(path);
    const auto a = samples::cell("serial", 1), b = samples::cell("mg-gcn", 1), c = samples::cell("mg-gcn", 2);
    d.register_experiment("sample", "name: sample", std::vector<CellRecord>{a, b});
    d.apply(samples::whole_trial("t1", a));
    d.register_experiment("sample", "name: sample\n", std::vector<CellRecord>{c, a});
    CHECK(rows(path, "SELECT c.digest FROM experiment_cell x JOIN cell c ON c.id = x.cell_id ORDER BY position") ==
          json{{c.digest}, {a.digest}});
    CHECK(rows(path, "SELECT count(*) FROM cells") == json{{3}});
    CHECK(rows(path, "SELECT count(*) FROM trials WHERE experiment = 'sample'") == json{{1}});
}

TEST_CASE("a database that cannot be written is read as it lies") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    {
        Database(path).apply(samples::whole_trial("t1", samples::cell("mg-gcn", 2)));
    }
    const auto parent = path.parent_path();
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(0444));
    std::filesystem::permissions(parent, static_cast<std::filesystem::perms>(0555));
    const int code = samples::in_child([&] {
        if (::geteuid() == 0 && ::setuid(65534) != 0) return 3;  // root may write whatever the mode
        try {
            Database writing(path);
            return 1;
        } catch (const EnvironmentError&) {
        }
        const Database reading = Database::for_reading(path);
        const auto states =
            reading.trials_of(samples::cell("mg-gcn", 2).digest, machine_fingerprint(samples::machine));
        return states.size() == 1 && states[0].status == TrialStatus::ok ? 0 : 2;
    });
    std::filesystem::permissions(parent, static_cast<std::filesystem::perms>(0755));
    CHECK(code == 0);
}
