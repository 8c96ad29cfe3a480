#pragma once
#include <string>
#include <vector>

#include "launch/declared_launcher.hpp"

namespace gnnbench {

/// A job, or an array of jobs, for a scheduler to run when it can.
struct BatchJob {
    std::string name;         ///< unique, so that the job can be found again
    std::string script_file;  ///< is written
    std::string log_file;     ///< of an array, with Array::log where an element's number is to be
    LauncherSettings settings;
    ClusterNodes nodes;
    LaunchNeed need;
    int elements = 0;                  ///< of the array; 0: a job by itself
    int at_once = 0;                   ///< elements that may run at the same time; 0: any number
    std::string before;                ///< shell lines
    std::vector<std::string> command;  ///< its argument is `first`, in an array plus the element's number
    std::size_t first = 0;
};

/// The state of a job, or of one element of an array.
struct QueuedJob {
    enum class State { waiting, running, ended };
    std::string id, element;  ///< `element`: its number in an array, else empty
    std::string name;         ///< "gnnbench-…"
    std::string word;         ///< the scheduler's word for its state
    std::string reason;       ///< of the scheduler; empty: none
    State state = State::waiting;
    TrialStatus end = TrialStatus::failed;  ///< what becomes of a trial that it left open
    bool by_itself = false;                 ///< its own script failed, and would fail again

    bool ended() const { return state == State::ended; }
    std::string label() const { return element.empty() ? id : id + "_" + element; }
};

/// The jobs of a scheduler, by the commands that a launcher's file declares.
class JobQueue {
public:
    /// The launcher must declare jobs.
    explicit JobQueue(LauncherDeclaration declaration) : declaration_(std::move(declaration)) {}
    const LauncherDeclaration& declaration() const { return declaration_; }

    /// The script that the scheduler gets, and the command that submits it.
    std::string script(const BatchJob& job) const;
    std::vector<std::string> submission(const BatchJob& job) const;
    /// Writes the script and submits it. Returns the job's id. Throws EnvironmentError with the scheduler's answer.
    std::string submit(const BatchJob& job) const;

    /// This user's jobs whose names begin so, each element of an array by itself; with `also_former` also those that
    /// ended a while ago, where the scheduler tells of them: of `ids` alone where it is asked about one job at a time.
    /// Throws EnvironmentError while the scheduler does not answer, or answers what the file does not expect.
    std::vector<QueuedJob> jobs_named(const std::string& prefix, bool also_former,
                                      const std::vector<std::string>& ids = {}) const;
    /// Ends jobs, by id; ignores those that have already ended.
    void cancel(const std::vector<std::string>& ids) const;

    /// The outcome of a trial whose job ended without reporting one. `log_tail` is not filled in.
    LaunchEnd end_of(const QueuedJob& job) const;

private:
    /// `former`: what the question tells of is no longer listed by the first one.
    std::vector<QueuedJob> answer(const Inquiry& question, const Values& values, bool former) const;
    QueuedJob job_of(const std::map<std::string, std::string, std::less<>>& match, bool former) const;

    LauncherDeclaration declaration_;
};

}  // namespace gnnbench
