#pragma once
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cli/prepare.hpp"
#include "cli/progress.hpp"
#include "cli/schedule.hpp"
#include "cli/trial_runner.hpp"

namespace gnnbench {

struct SweepRules {
    PlanRules plan;
    std::int64_t max_failures = 0;           ///< after which the sweep stops; 0: it goes on past all
    int retries = 0;                         ///< of a trial that failed, crashed or took too long
    int jobs = 1;                            ///< trials at once
    bool verify = true;                      ///< each new combination, before it is first measured
    std::uint64_t order_seed = 0;            ///< of the order within blocks
    std::string export_folder;               ///< empty: nothing is exported
    std::vector<std::int64_t> trace_epochs;  ///< of each trial measured now; see TrialRequest
};

/// What a sweep did.
struct SweepReport {
    std::size_t run = 0;            ///< trials measured now
    std::size_t there = 0;          ///< trials that were there already
    std::size_t failed_before = 0;  ///< of those, the ones that had failed
    std::size_t skipped = 0;        ///< cells
    std::size_t failed = 0;         ///< trials that failed now
    std::size_t disproven = 0;      ///< combinations that disagree with the reference
    std::size_t elsewhere = 0;      ///< trials that another process runs or ran
    bool interrupted = false;
    bool gave_up = false;  ///< after too many failures

    bool all_well() const { return failed + failed_before + disproven == 0; }
};

/// Runs what is missing of an experiment: verifications first, then trials in randomised blocks. Goes on past
/// failures, ends early on an interrupt.
class Sweep {
public:
    Sweep(const PreparedExperiment& prepared, const Plan& plan, Database& database, TrialRunner& runner,
          const SweepRules& rules, Progress& progress);
    SweepReport run();

private:
    struct DueCell {
        const PreparedCell* cell;
        std::map<std::int64_t, int> conclusive;  ///< by trial number: see claim_trial
    };
    void judge();
    void judge_skipped(const PreparedCell& cell, const std::string& reason);
    void verify_all();
    void verify(const PreparedCell& cell, const std::string& position);
    bool known_verified(const PreparedCell& cell) const;
    void measure_all();
    /// Takes trials from `waiting` until there are none; what other processes have now goes to `held`.
    void work(TrialRunner& runner, std::vector<ScheduledTrial>& waiting, std::vector<ScheduledTrial>& held);
    /// False where another process has the trial now.
    bool measure(TrialRunner& runner, const ScheduledTrial& trial);
    void count(const TrialResult& result, const std::string& what);
    bool over() const { return report_.interrupted || report_.gave_up; }
    std::string export_folder_of(const ScheduledTrial& trial) const;

    const PreparedExperiment& prepared_;
    const Plan& plan_;
    Database& database_;
    TrialRunner& runner_;
    const SweepRules& rules_;
    Progress& progress_;
    SweepReport report_;
    std::vector<DueCell> due_;
    std::vector<std::vector<std::int64_t>> missing_;  ///< of each of due_
    std::map<std::string, std::string> disproven_;    ///< verification key → why
    Pace pace_{0};
    std::mutex guard_;  ///< of report_, pace_ and the lists of trials, while several trials run
};

/// What verifying a cell takes. Reference results are cached in `cache`.
TrialOrder verification_order(const PreparedCell& cell, const Limits& limits, const std::filesystem::path& cache);

}  // namespace gnnbench
