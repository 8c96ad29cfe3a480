#pragma once
/// A database of two cells with eight trials of each commit, to choose among, to compare and to merge.
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include <catch2/catch.hpp>

#include "record/choice.hpp"
#include "record/database.hpp"
#include "record/migrations.hpp"
#include "record/query.hpp"
#include "record_samples.hpp"

namespace gnnbench::samples {

/// A trial of one epoch that takes `epoch_s` on its slowest rank.
inline void add(Database& database, const std::string& uuid, const CellRecord& c, int number, double epoch_s,
                const std::string& commit = "aaaa1111", const std::string& status = "ok") {
    nlohmann::json begin = trial(uuid, c, number, "2026-01-01T00:00:00." + std::to_string(100 + number) + "Z");
    begin["provenance"]["commit"] = commit;
    const std::vector<nlohmann::json> lines = {begin, setup(uuid), epoch(uuid, 0, true, 9, 9),
                                               epoch(uuid, 1, false, epoch_s / 2, epoch_s), outcome(uuid, status)};
    REQUIRE(database.apply(lines).problems.empty());
}

inline std::int64_t count(const std::filesystem::path& path, const std::string& from) {
    return std::get<std::int64_t>(query(path, "SELECT count(*) FROM " + from).rows.at(0).at(0));
}

/// As if a migration followed those of today.
struct WithOneMore {
    const std::int64_t before = std::ssize(shipped_migrations());
    const std::vector<Migration> migrations = [] {
        std::vector<Migration> all(shipped_migrations().begin(), shipped_migrations().end());
        all.push_back({"9999_more", "CREATE TABLE more (x INTEGER) STRICT"});
        return all;
    }();
    const OtherMigrations shipped{migrations};
};

struct Two {
    Folder folder;
    std::filesystem::path path = folder / "two.sqlite";
    Database database{path};
    const CellRecord slow = cell("serial", 1), fast = cell("mg-gcn", 2);
    Two() {
        for (int n = 0; n < 8; ++n) {
            const std::string i = std::to_string(n);
            add(database, "a" + i, slow, n, 2.0 + 0.001 * n);
            add(database, "b" + i, slow, n, 2.4 + 0.001 * n, "bbbb2222");
            add(database, "c" + i, fast, n, 1.0 + 0.001 * n);
        }
    }
    std::int64_t chosen(const std::string& side) const {
        return static_cast<std::int64_t>(
            chosen_trials(database.connection(), read_choice(database.connection(), side)).size());
    }
};

}  // namespace gnnbench::samples
