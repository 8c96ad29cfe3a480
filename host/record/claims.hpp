#pragma once
#include <string>
#include <vector>

#include "record/database.hpp"
#include "record/journal.hpp"

namespace gnnbench {

/// A trial to run, which no other process may run at the same time.
struct TrialKey {
    std::string cell_digest;
    std::string machine;  ///< fingerprint
    int number = 0;
    std::string purpose = "measure";
};

enum class ClaimState {
    claimed,        ///< run it
    held_by_other,  ///< another running process has claimed it; try again later
    done_by_other   ///< another process has finished it since the caller looked
};
struct Claim {
    ClaimState state;
    std::string holder;  ///< "host, process 123, since …" where held_by_other
    std::vector<std::string>
        problems{};  ///< of the journals replayed on the way: what is damaged, and where it is kept
};

/// The current number of conclusive trials for the key.
int conclusive_trials(const Database& database, const TrialKey& key);

/// Claims a trial for the process that owns `journal`. `seen_conclusive`: how many conclusive trials of this
/// number the caller knew of (TrialState::conclusive). A claim of a dead process is taken over, after what it
/// recorded has been replayed. For purpose `verify`, cell_digest is the verification key.
Claim claim_trial(Database& database, const Journal& journal, const TrialKey& key, int seen_conclusive);
/// The same for a job that will write the journal of this name (see create_job_journal).
Claim claim_trial(Database& database, const std::string& journal, const TrialKey& key, int seen_conclusive);
/// Call after the trial's outcome was applied to the database.
void release_trial(Database& database, const Journal& journal, const TrialKey& key);

}  // namespace gnnbench
