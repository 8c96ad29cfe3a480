#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run/progress.hpp"
#include "run/trial_runner.hpp"

namespace gnnbench {

struct SweepRules {
    PlanRules plan;
    std::int64_t max_failures = 0;           ///< after which the sweep stops; 0: never
    int retries = 0;                         ///< of a trial that failed, crashed or took too long
    int jobs = 0;                            ///< concurrent trials; 0: not given
    bool verify = true;                      ///< each new combination, before it is first measured
    std::uint64_t order_seed = 0;            ///< of the order within blocks
    std::string export_folder;               ///< empty: nothing is exported
    std::vector<std::int64_t> trace_epochs;  ///< of each trial measured now; see TrialRequest
};

/// What a sweep did.
struct SweepReport {
    std::size_t due = 0;                  ///< trials that were missing, or to be measured again, when it began
    std::size_t run = 0;                  ///< trials measured now
    std::size_t already_done = 0;         ///< trials that existed already
    std::size_t failed_before = 0;        ///< of those, the ones that had failed
    std::size_t skipped = 0;              ///< cells
    std::size_t failed = 0;               ///< trials that failed now, the unmeasured ones among them
    std::size_t verified = 0;             ///< combinations that were checked now, whatever was found
    std::size_t failed_verification = 0;  ///< of those, the ones that disagree with the reference
    std::size_t run_by_others = 0;        ///< trials that another process runs or ran
    std::size_t unstarted = 0;            ///< trials and verifications whose ranks the launcher could not start
    std::size_t never_begun = 0;          ///< trials whose job ended before they began
    std::size_t jobs_left = 0;            ///< jobs that continue after this process ends
    std::size_t unmeasured = 0;           ///< trials recorded as failed without being run
    std::vector<std::string> trials{};    ///< UUIDs of what was measured or recorded as failed now
    bool interrupted = false;
    bool stopped_early = false;  ///< after too many failures

    bool all_well() const { return failed + failed_before + failed_verification + unstarted + never_begun == 0; }
    SweepReport& operator+=(const SweepReport& other);
};

/// A cell with missing trials.
struct DueCell {
    const PreparedCell* cell;
    std::map<std::int64_t, int> conclusive;  ///< by trial number: see claim_trial
    std::vector<std::int64_t> missing;       ///< trial numbers, ascending
};

/// A planned experiment, and what runs its trials. All must outlive it.
struct SweepContext {
    const PreparedExperiment& prepared;
    const Plan& plan;  ///< of `prepared`
    Database& database;
    TrialRunner& runner;
    const SweepRules& rules;
    Progress& progress;
};

/// What is missing of a plan; counts the rest in `report`, and records what is skipped. The database remembers what
/// is to be measured again.
std::vector<DueCell> due_cells(const SweepContext& context, SweepReport& report);

/// Records that a cell cannot run, unless the database has it already; counts and reports it.
void record_skipped(const SweepContext& context, const PreparedCell& cell, const std::string& reason,
                    SweepReport& report);

/// Whether the cell's combination needs no further verification.
bool known_verified(const PreparedCell& cell, const Database& database);

/// The request that verifies a cell. Reference results are cached beside the database. Its partitioner is asked twice
/// unless a verification has done so since it was built.
TrialOrder verification_order(const PreparedCell& cell, const Limits& limits, const Database& database);

/// The folder that a trial exports to; empty if nothing is exported.
std::string export_folder_of(const SweepRules& rules, const PreparedCell& prepared, std::int64_t number);

}  // namespace gnnbench
