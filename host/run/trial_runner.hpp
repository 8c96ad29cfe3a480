#pragma once
#include <memory>
#include <string>

#include "record/database.hpp"
#include "run/trial_execution.hpp"

namespace gnnbench {

/// Runs trials one after another for one experiment, each from its claim to its outcome in the database. Owns this
/// process's journal; its lines are in the database when run() returns.
class TrialRunner {
public:
    using Watch = TrialExecution::Watch;

    /// Throws EnvironmentError if the worker is missing or the journal cannot be written.
    /// `jobs`: how many runners of this process run trials at the same time. `cores`: from which each trial takes its own
    /// (see cores_for); nullptr: trials share the launcher's cores.
    TrialRunner(Database& database, const Experiment& experiment, std::shared_ptr<const Launcher> launcher,
                int jobs = 1, std::shared_ptr<CorePool> cores = nullptr);

    TrialResult run(const TrialOrder& order, const Watch& watch);
    /// Records a trial that is not started, with the reason.
    TrialResult record_not_run(const TrialOrder& order, TrialStatus status, const std::string& reason) {
        return execution_.record_not_run(order, status, reason);
    }
    /// Call when nothing more will run: removes the journal, whose lines are in the database.
    void finish();

    const std::string& machine_fingerprint() const { return fingerprint_; }
    const std::shared_ptr<const Launcher>& launcher() const { return launcher_; }
    Database& database() const { return database_; }
    const std::shared_ptr<CorePool>& cores() const { return cores_; }

private:
    Database& database_;
    std::shared_ptr<const Launcher> launcher_;
    std::shared_ptr<CorePool> cores_;
    std::string fingerprint_;
    Journal journal_;
    TrialExecution execution_;
};

/// The pool of so many runners on this host; nullptr for one, whose trials have all cores, and where the launcher places
/// ranks itself.
std::shared_ptr<CorePool> cores_for(const Launcher& launcher, int jobs);

/// What is claimed for a trial: verifications under their key, whatever the cell.
TrialKey key_of(const TrialOrder& order, const std::string& machine_fingerprint);

}  // namespace gnnbench
