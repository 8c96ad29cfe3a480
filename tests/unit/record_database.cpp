// The file of a database: what is opened, made, migrated and refused, by one process or several.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <gnnbench/error.hpp>

#include "record/database.hpp"
#include "record/migrations.hpp"
#include "record/query.hpp"
#include "record/sqlite.hpp"
#include "record_rows.hpp"
#include "record_samples.hpp"

using namespace gnnbench;
using nlohmann::json;
using samples::everything;
using samples::rows;

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

TEST_CASE("a database from before energy was recorded keeps its trials, which have none and say so") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite";
    constexpr std::size_t before = 3;  // 0004_energy is next
    REQUIRE(std::string(shipped_migrations()[before].name) == "0004_energy");
    {
        sqlite::Connection c(path, sqlite::Access::read_write);
        migrate(c, shipped_migrations().first(before));
        c.execute(
            "INSERT INTO experiment (id, name, first_seen) VALUES (1, 'sample', '2026-01-01');"
            "INSERT INTO machine (id, fingerprint, description) VALUES (1, 'f', '{}');"
            "INSERT INTO cell (id, digest, identity) VALUES (1, 'd', '{\"dataset\": {\"name\": \"ring\", "
            "\"digest\": "
            "\"x\"}, \"scheme\": {\"name\": \"serial\", \"label\": \"serial\"}, \"partitioner\": {\"name\": "
            "\"none\", "
            "\"label\": \"none\"}, \"kernel\": {\"name\": \"cpu\"}, \"gpus\": 1, \"threads_per_rank\": 1, "
            "\"precision\": \"float32\", \"model\": {\"layers\": \"gcn\", \"widths\": [4]}, \"train\": "
            "{\"optimizer\": "
            "\"adam\", \"lr\": 0.01, \"dropout\": 0}, \"seed\": 1, \"epochs\": 1, \"warmup\": 0, \"slowdown\": "
            "{\"label\": \"none\"}}');"
            "INSERT INTO trial (uuid, cell_id, experiment_id, machine_id, number, block, purpose, status, "
            "started, "
            "provenance, epoch_s) VALUES ('old', 1, 1, 1, 0, 0, 'measure', 'ok', '2026-01-01', '{}', 2.5);"
            "INSERT INTO epoch (trial_id, epoch, warmup, wall_s) VALUES (1, 0, 0, 2.5)",
            "store a trial of the schema before");
    }
    Database d(path);
    CHECK(rows(path,
               "SELECT trial, epoch_s, energy_j, host_energy_j, host_energy_reason, device_energy_j, "
               "device_energy_reason FROM latest") ==
          json{{"old", 2.5, nullptr, nullptr, "not recorded", nullptr, "not recorded"}});
    CHECK(rows(path, "SELECT epoch, wall_s, host_energy_j, host_energy_reason FROM energy") ==
          json{{0, 2.5, nullptr, "not recorded"}});
    CHECK(rows(folder / "r.sqlite.backup-v3", "PRAGMA user_version")[0][0] == before);
}

TEST_CASE("a migration that ends in the middle of its copy leaves nothing under the copy's name") {
    samples::Folder folder;
    const auto path = folder / "r.sqlite", copy = folder / "r.sqlite.backup-v1";
    const Migration first{"0001_first", "CREATE TABLE a (x); INSERT INTO a VALUES (randomblob(1000000))"};
    const Migration second{"0002_second", "ALTER TABLE a ADD COLUMN y"};
    {
        sqlite::Connection c(path, sqlite::Access::read_write);
        migrate(c, std::vector{first});
    }
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit little{100000, 100000};
        setrlimit(RLIMIT_FSIZE, &little);  // the signal kills it while it copies
        try {
            sqlite::Connection c(path, sqlite::Access::read_write);
            migrate(c, std::vector{first, second});
        } catch (...) {
            _exit(1);
        }
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK_FALSE(std::filesystem::exists(copy));
    {
        sqlite::Connection c(path, sqlite::Access::read_write);
        migrate(c, std::vector{first, second});
    }
    CHECK(rows(copy, "SELECT length(x) FROM a")[0] == json::array({1000000}));
    struct stat info{};
    REQUIRE(stat(copy.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
        CHECK_FALSE(entry.path().filename().string().ends_with(".draft"));
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
