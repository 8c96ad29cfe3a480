// What JobFollower does where a submission begins or a job ends: adopts what earlier runs left, collects what a job
// measured.
#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "launch/trial.hpp"
#include "record/replay.hpp"
#include "run/job_follow.hpp"

namespace gnnbench {

using nlohmann::json;

/// For a submission whose creator was killed before submitting all of it: undoes what the scheduler does not know of. False if
/// nothing of the submission is left.
bool JobFollower::withdraw_unsubmitted(JobFolder& folder, std::vector<JobBatch>& batches, const json& launcher) {
    std::vector<QueuedJob> known;
    if (!batches.empty())
        known = JobQueue(launcher_declaration(launcher)).jobs_named("gnnbench-" + folder.id(), true);
    std::set<std::size_t> kept;
    std::erase_if(batches, [&](JobBatch& batch) {
        const auto found =
            std::find_if(known.begin(), known.end(), [&](const QueuedJob& j) { return j.name == batch.name; });
        if (found != known.end()) batch.job = found->id;
        // A job that the scheduler has forgotten may have run; if so, its journal has lines.
        std::error_code none;
        bool ran = false;
        for (std::size_t task = batch.first; task < batch.first + batch.tasks; ++task) {
            const auto size = std::filesystem::file_size(folder.journal(database_.path(), task), none);
            ran = ran || (!none && size > 0);
        }
        if (batch.job.empty() && !ran) return true;
        for (std::size_t task = batch.first; task < batch.first + batch.tasks; ++task) kept.insert(task);
        return false;
    });
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(journal_folder(database_.path()), ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(folder.id() + "-") || !is_job_journal(name)) continue;
        std::size_t task = 0;
        const char* digits = name.data() + folder.id().size() + 1;
        const auto read = std::from_chars(digits, name.data() + name.size(), task);
        if (read.ec != std::errc() || *read.ptr != '.') continue;  // not named by us
        if (!kept.contains(task))
            collect_journal(database_, entry.path(), [](const std::string&) { return TrialOutcome{}; });
    }
    if (!batches.empty()) folder.write_batches(batches, launcher);
    return !batches.empty();
}

void JobFollower::adopt() {
    for (JobFolder& folder : JobFolder::left(database_.path())) {
        std::vector<JobBatch> batches = folder.batches();
        const json launcher = folder.launcher();
        const bool whole = !batches.empty() && std::none_of(batches.begin(), batches.end(),
                                                            [](const JobBatch& b) { return b.job.empty(); });
        if (!whole && !withdraw_unsubmitted(folder, batches, launcher)) {
            folder.remove();
            continue;
        }
        add(std::move(folder), std::move(batches), launcher);
    }
}

void JobFollower::collect(Submission& submission, Task& task) {
    // While a process holds the journal, the scheduler's state is not final.
    read_journals();
    LaunchEnd end = submission.queue.end_of(task.job);
    end.log_tail = tail_of(submission.folder.log(task.batch, task.element));
    // On a network file system, the last lines, and with them whole trials, may have become visible only with the lock.
    const auto read_what_is_left = [&] {
        for (std::vector<json> lines = task.tail->poll(); !lines.empty(); lines = task.tail->poll())
            for (const json& line : lines) read_line(submission, task, line);
    };
    const ReplayResult replayed = collect_journal(
        database_, submission.folder.journal(database_.path(), task.number), [&](const std::string& trial) {
            read_what_is_left();
            StartedTrial& started = task.started[trial];
            TrialOutcome outcome = started.reader.outcome(end);
            outcome.trial = trial;
            started.over = true;
            submission.all_well = false;
            report_outcome(started, started.reader.result(outcome));
            return outcome;
        });
    if (replayed.journals == 0) return;
    read_what_is_left();
    for (const std::string& problem : replayed.problems) progress_.message("damaged journal: " + problem);
    task.tail.reset();
    settle_unstarted(submission, task);
}

void JobFollower::settle_unstarted(Submission& submission, const Task& task) {
    const JobTask work = read_task(submission.folder.path(), task.number);
    const auto started = [&](const JobTask::Trial& trial) {
        const std::string& cell = work.cells[trial.cell].record.digest;
        return task.skipped.contains(cell) ||
               std::any_of(task.started.begin(), task.started.end(), [&](const auto& b) {
                   return b.second.measures && b.second.cell == cell && b.second.number == trial.number;
               });
    };
    std::vector<JobTask::Trial> unstarted;
    for (const JobTask::Trial& trial : work.trials)
        if (trial.purpose == Purpose::measure && !started(trial)) unstarted.push_back(trial);
    if (unstarted.empty()) return;
    submission.all_well = false;
    const LaunchEnd end = submission.queue.end_of(task.job);
    std::string log = tail_of(submission.folder.log(task.batch, task.element), 1000);
    while (log.ends_with('\n')) log.pop_back();
    // A failed node, a cancelled or timed-out job says nothing about the trials, which stay due. A job that fails
    // before it begins anything would do so again.
    if (task.started.empty() && end.status == TrialStatus::failed && task.job.by_itself) {
        const std::string reason =
            fmt::format("{} before its first trial{}", end.reason, log.empty() ? "" : ": " + log);
        for (const JobTask::Trial& trial : unstarted) {
            runner_.record_not_run(work.order(trial), end.status, reason);
            ++report_.failed, ++report_.unmeasured;
        }
        progress_.message(fmt::format("{}: {}", submission.batches[task.batch].name, reason));
        return;
    }
    report_.never_begun += unstarted.size();
    progress_.message(fmt::format("{}, and {} of its trials had not begun{}", end.reason, unstarted.size(),
                                  task.started.empty() && !log.empty() ? ": " + log : ""));
}

}  // namespace gnnbench
