#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/due.hpp"
#include "run/pending_verifications.hpp"
#include "run/schedule.hpp"

namespace gnnbench {

/// Runs an experiment's missing trials in randomised blocks, and verifies each combination just before its first trial.
/// Continues after failures, stops early on an interrupt.
class Sweep {
public:
    explicit Sweep(const SweepContext& context);
    SweepReport run();

private:
    /// A trial that is next, and the position of the verification that comes before it, if one does.
    struct Turn {
        ScheduledTrial trial;
        std::string verify_first;
    };
    /// Takes the next trial whose combination is not being verified; waits while every trial's is. Empty at the end.
    std::optional<Turn> next_turn(std::vector<ScheduledTrial>& waiting);
    /// Verifies a combination that the caller has taken from `pending_`. False if another process is verifying it.
    bool verify(TrialRunner& runner, const std::string& key, const std::string& position);
    /// Reports what a verification found. The guard is held.
    void count_verification(const std::string& key, const std::string& what, VerificationStatus status,
                            const std::string& reason);
    /// The ranks that verified a combination reported that they cannot run it. The guard is held.
    void skip_combination(TrialRunner& runner, const std::string& key, const std::string& reason);
    const std::string& key_of_trial(const ScheduledTrial& trial) const {
        return due_[trial.cell].cell->record.verification_key;
    }
    void measure_all();
    /// Runs trials from `waiting` until none is left; those claimed by other processes go to `held`.
    void work(TrialRunner& runner, std::vector<ScheduledTrial>& waiting, std::vector<ScheduledTrial>& held);
    TrialOrder order_of(const ScheduledTrial& trial) const;
    /// The status line of a running trial.
    void show_progress(const std::string& what, const Cell& cell, const TrialProgress& p, double running_s);
    /// False if another process has claimed the trial.
    bool measure(TrialRunner& runner, const ScheduledTrial& trial);
    void count(const TrialResult& result, const std::string& what);
    void note_late_step(const std::string& key, const TrialResult& result, const std::string& what);
    /// The launcher could not start its ranks. The guard is held.
    void did_not_start(const TrialResult& result, const std::string& what);
    SweepContext context() const { return {prepared_, plan_, database_, runner_, rules_, progress_}; }
    bool over() const {
        return report_.interrupted || report_.stopped_early || unstarted_in_a_row_ >= most_unstarted;
    }

    /// A launcher that fails so often will not start the others either.
    static constexpr int most_unstarted = 3;

    const PreparedExperiment& prepared_;
    const Plan& plan_;
    Database& database_;
    TrialRunner& runner_;
    const SweepRules& rules_;
    Progress& progress_;
    int jobs_;  ///< trials at once
    SweepReport report_;
    std::vector<DueCell> due_;
    PendingVerifications pending_;
    std::set<std::size_t> skipped_;  ///< of due_: the ranks reported that they cannot run it
    std::map<std::string, std::string> failed_verification_;  ///< verification key → why
    std::set<std::string> late_steps_;  ///< verification keys whose next trial has one step more verified
    Pace pace_{0};
    int unstarted_in_a_row_ = 0;
    std::mutex guard_;  ///< of all that is not constant here, while several trials run
    std::condition_variable verified_;
};

}  // namespace gnnbench
