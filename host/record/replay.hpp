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
    /// Lines that break the contract or cannot be read, but for a last one that a kill tore; their journal is kept as *.damaged.
    std::vector<std::string> problems;
};

/// Applies every journal whose processes are all gone, and removes it; its trials without outcome become
/// `interrupted`, its claims are free. Journals of the living are left alone.
ReplayResult replay_dead_journals(Database& database);
/// The same for one journal; does nothing if it lives or is gone.
ReplayResult replay_journal(Database& database, const std::filesystem::path& journal);

/// How a trial of a job ended that the job itself left without an outcome.
using OpenTrialEnd = std::function<TrialOutcome(const std::string& trial)>;
/// The journal of a job (create_job_journal) that is over: as replay_journal, but its trials without outcome get the one
/// that `end_of` gives. Nothing happens, and `journals` is 0, while a process still has the journal, or once it is gone.
ReplayResult collect_journal(Database& database, const std::filesystem::path& journal, const OpenTrialEnd& end_of);

}  // namespace gnnbench
