#pragma once
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "run/due.hpp"
#include "run/schedule.hpp"

namespace gnnbench {

/// Runs an experiment's missing trials: verifications first, then trials in randomised blocks. Continues after
/// failures, stops early on an interrupt.
class Sweep {
public:
    explicit Sweep(const SweepContext& context);
    SweepReport run();

private:
    void verify_all();
    /// `seen`: see claim_trial.
    void verify(const PreparedCell& cell, int seen, const std::string& position);
    /// The ranks that verified a cell reported that they cannot run it; all cells of its combination are skipped.
    void skip_combination(const PreparedCell& verified, const std::string& reason);
    void measure_all();
    /// Runs trials from `waiting` until none is left; those claimed by other processes go to `held`.
    void work(TrialRunner& runner, std::vector<ScheduledTrial>& waiting, std::vector<ScheduledTrial>& held);
    TrialOrder order_of(const ScheduledTrial& trial) const;
    /// The status line of a running trial.
    void show_progress(const std::string& what, const Cell& cell, const TrialProgress& p, double running_s);
    /// False if another process has claimed the trial.
    bool measure(TrialRunner& runner, const ScheduledTrial& trial);
    void count(const TrialResult& result, const std::string& what);
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
    std::set<std::size_t> skipped_;  ///< of due_: the ranks reported that they cannot run it
    std::map<std::string, std::string> failed_verification_;  ///< verification key → why
    Pace pace_{0};
    int unstarted_in_a_row_ = 0;
    std::mutex guard_;  ///< of report_, pace_ and the lists of trials, while several trials run
};

}  // namespace gnnbench
