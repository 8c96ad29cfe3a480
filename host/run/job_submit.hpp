#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "launch/job_queue.hpp"
#include "run/due.hpp"
#include "run/job_folder.hpp"
#include "run/schedule.hpp"

namespace gnnbench {

/// Turns due trials into jobs: claims each trial for the journal of the job that will run it, writes scripts and
/// tasks, and submits them.
class JobSubmission {
public:
    /// The context's experiment must have a launcher with jobs.
    JobSubmission(const SweepContext& context, SweepReport& report);

    struct Submitted {
        JobFolder folder;
        std::vector<JobBatch> batches;
    };
    /// Empty if other processes have claimed all due ones. Throws EnvironmentError with the scheduler's message; the next run
    /// follows what was submitted before that.
    std::optional<Submitted> submit(const std::vector<DueCell>& due);

private:
    /// Cells whose trials one job runs; it verifies each of these combinations before its first trial.
    struct Group {
        std::vector<const DueCell*> cells;
        std::set<std::string> unverified;  ///< verification keys
    };
    std::vector<Group> groups_of(const std::vector<DueCell>& due) const;
    /// Without trials if other processes have claimed them all.
    JobTask claimed(const Group& group, const std::string& journal);
    JobTask::Trial verification_of(const DueCell& cell, std::size_t index) const;
    JobTask::Trial trial_of(const DueCell& cell, std::size_t index, std::int64_t number) const;
    /// The resources of a job that can run all of a group's trials.
    LaunchNeed need_of(const Group& group) const;
    std::vector<JobBatch> batches_of(const JobFolder& folder, const std::vector<LaunchNeed>& needs) const;
    std::string submit(const JobFolder& folder, const JobBatch& batch, std::size_t number,
                       const LaunchNeed& need) const;

    const PreparedExperiment& prepared_;
    Database& database_;
    std::string fingerprint_;
    const nlohmann::json& file_;  ///< the launcher's
    const DeclaredLauncher& launcher_;
    JobQueue queue_;
    const SweepRules& rules_;
    SweepReport& report_;
    std::set<std::string> late_steps_;  ///< verification keys of which a trial has one step more verified
};

}  // namespace gnnbench
