#include "run/task_run.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "launch/interrupt.hpp"

namespace gnnbench {

namespace {

/// Runs one task; remembers which of its cells cannot run, and which combinations failed verification.
class TaskRun {
public:
    explicit TaskRun(const JobTask& task)
        : task_(task),
          journal_(task.journal),
          launcher_(launcher_declaration(task.launcher), inside_the_job(task.settings), nodes_of_the_job(task)),
          execution_(journal_, launcher_,
                     {.experiment = task.experiment,
                      .source = task.source,
                      .machine = task.machine,
                      .database = task.database,
                      .jobs = 1,
                      // The job's state says why this process was ended; the follower reads that.
                      .judges_interrupts = false},
                     [](std::span<const nlohmann::json>) {}) {}

    void run() {
        for (const JobTask::Trial& trial : task_.trials) {
            if (InterruptGuard::requested()) return;
            if (!skipped_.contains(trial.cell)) run(trial);
        }
    }

private:
    /// Steps do not request again what the job has been allocated.
    static LauncherSettings inside_the_job(LauncherSettings settings) {
        settings.options.clear();
        settings.time.clear();
        settings.nodes = 0;
        return settings;
    }

    /// The cores and memory of its trials are of all of them.
    static ClusterNodes nodes_of_the_job(const JobTask& task) {
        ClusterNodes nodes = task.nodes;
        nodes.hosts = std::max(nodes.hosts, task.settings.nodes);
        return nodes;
    }

    void run(const JobTask::Trial& trial) {
        const TrialOrder order = task_.order(trial);
        const std::string& key = order.cell.record.verification_key;
        for (int retries = order.purpose == Purpose::verify ? 0 : task_.retries;; --retries) {
            const auto wrong = failed_verification_.find(key);
            const TrialResult result =
                order.purpose == Purpose::measure && wrong != failed_verification_.end()
                    ? execution_.record_not_run(order, TrialStatus::failed, unmeasured_reason(wrong->second))
                    : execution_.run(order, [](const TrialProgress&) {});
            std::cerr << fmt::format("{} {} {}: {}{}\n", cell_label(order.cell.cell), to_text(order.purpose),
                                     order.number + 1, to_text(result.status),
                                     result.reason.empty() ? "" : ": " + result.reason);
            if (result.verification == VerificationStatus::failed)
                failed_verification_[key] = result.verification_reason;
            if (result.status == TrialStatus::skipped) skip(trial, result.reason);
            if (!may_be_chance(result.status) || retries <= 0 || wrong != failed_verification_.end()) return;
        }
    }

    /// These nodes cannot run a cell, so they cannot run its other trials or the cells verified with it either.
    void skip(const JobTask::Trial& found, const std::string& reason) {
        const std::string key = task_.cells[found.cell].record.verification_key;
        if (found.purpose == Purpose::measure) skipped_.insert(found.cell);
        for (const JobTask::Trial& trial : task_.trials) {
            const bool same = task_.cells[trial.cell].record.verification_key == key;
            if (!same || trial.purpose != Purpose::measure || !skipped_.insert(trial.cell).second) continue;
            execution_.record_not_run(task_.order(trial), TrialStatus::skipped, reason);
        }
    }

    const JobTask& task_;
    WorkerJournal journal_;
    DeclaredLauncher launcher_;
    TrialExecution execution_;
    std::map<std::string, std::string> failed_verification_;  ///< verification key → why
    std::set<std::size_t> skipped_;                           ///< cells
};

}  // namespace

void run_task(const JobTask& task) { TaskRun(task).run(); }

}  // namespace gnnbench
