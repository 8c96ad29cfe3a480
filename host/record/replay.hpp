#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/database.hpp"

namespace gnnbench {

struct ReplayResult {
    std::int64_t journals = 0, lines = 0, torn_lines = 0;
    std::vector<std::string> interrupted;  ///< trials (UUIDs) that had no outcome
    std::vector<std::string> problems;     ///< lines that break the contract; their journal is kept as *.damaged
};

/// Applies every journal whose processes are all gone, and removes it; its trials without outcome become
/// `interrupted`, its claims are free. Journals of the living are left alone.
ReplayResult replay_dead_journals(Database& database);
/// The same for one journal; does nothing if it lives or is gone.
ReplayResult replay_journal(Database& database, const std::filesystem::path& journal);

}  // namespace gnnbench
