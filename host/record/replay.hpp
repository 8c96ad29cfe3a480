#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/database.hpp"

namespace gnnbench {

struct ReplayResult {
    std::int64_t journals = 0, lines = 0;
    std::vector<std::string> interrupted;  ///< trials (UUIDs) that had no outcome
    /// Lines that violate the contract or are unreadable, except a truncated last line; their journal is kept as
    /// *.damaged.
    std::vector<std::string> problems;
};

/// Applies every journal whose processes are all gone, and removes it; its trials without outcome become
/// `interrupted` and its claims are released. Leaves journals of running processes alone.
ReplayResult replay_dead_journals(Database& database);
/// The same for one journal; does nothing if it is alive or was removed.
ReplayResult replay_journal(Database& database, const std::filesystem::path& journal);

/// The outcome of a trial whose job recorded none.
using OpenTrialEnd = std::function<TrialOutcome(const std::string& trial)>;
/// The journal of a job (create_job_journal) that is over: as replay_journal, but its trials without outcome get the
/// one that `end_of` returns. Does nothing, with `journals` 0, while a process holds the journal or if it was
/// removed.
ReplayResult collect_journal(Database& database, const std::filesystem::path& journal, const OpenTrialEnd& end_of);

}  // namespace gnnbench
