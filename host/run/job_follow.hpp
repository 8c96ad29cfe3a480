#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launch/job_queue.hpp"
#include "run/due.hpp"
#include "run/job_folder.hpp"

namespace gnnbench {

/// Follows jobs until they end: imports their journals into the database, and assigns outcomes to trials whose job
/// ended without reporting one. Jobs continue if the follower ends; another one can follow them later.
class JobFollower {
public:
    /// `poll_s`: the longest interval between two polls of a queue.
    JobFollower(Database& database, TrialRunner& runner, const SweepRules& rules, double poll_s,
                Progress& progress);

    /// Adopts the jobs of earlier submissions of this database, whatever their experiment. Drops those that were
    /// never submitted.
    void adopt();
    /// `launcher`: the content of its file.
    void add(JobFolder folder, std::vector<JobBatch> batches, const nlohmann::json& launcher);
    /// Jobs that have not ended, or are not completely in the database yet.
    std::size_t jobs() const;
    /// Reads all journals and polls the queue once.
    void poll_once();
    /// Until all jobs are over, or an interrupt comes.
    void follow();
    /// Ends all jobs; follow() then sees them end.
    void cancel();
    /// "gnnbench-1a2b3c4d": what the names of its jobs begin with, of all submissions.
    std::vector<std::string> names() const;
    const SweepReport& report() const { return report_; }

private:
    struct StartedTrial {
        std::string label, cell;  ///< `cell`: its digest
        std::int64_t number = 0;  ///< in the cell
        bool measures = true, over = false;
        TrialReader reader;
    };
    struct Task {
        std::size_t number = 0;  ///< in its folder
        std::size_t batch = 0;
        std::string element;              ///< of an array; else empty
        std::optional<JournalTail> tail;  ///< empty once it is collected
        QueuedJob job;                    ///< as last seen
        std::chrono::steady_clock::time_point unseen_since{};
        int unseen = 0;                               ///< polls of the queue since then that did not list it
        std::map<std::string, StartedTrial> started;  ///< trials, by UUID
        std::set<std::string> skipped;                ///< cells, by digest, that its nodes cannot run
    };
    struct Submission {
        JobFolder folder;
        std::vector<JobBatch> batches;
        std::vector<Task> tasks;
        JobQueue queue;
        bool all_well = true;
    };

    bool read_journals();
    void read_line(Submission& submission, Task& task, const nlohmann::json& line);
    void report_outcome(const StartedTrial& trial, const TrialResult& result);
    static bool is_gone(Task& task, double patience_s);
    bool read_queue();
    void collect(Submission& submission, Task& task);
    /// Trials that an ended job never began.
    void settle_unstarted(Submission& submission, const Task& task);
    void finish_submissions();
    void show() const;
    bool withdraw_unsubmitted(JobFolder& folder, std::vector<JobBatch>& batches, const nlohmann::json& launcher);
    std::vector<QueuedJob> listed_jobs(const JobQueue& queue) const;

    Database& database_;
    TrialRunner& runner_;
    const SweepRules& rules_;
    double poll_s_;
    Progress& progress_;
    SweepReport report_;
    std::vector<Submission> submissions_;
};

}  // namespace gnnbench
