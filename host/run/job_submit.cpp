#include "run/job_submit.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "record/replay.hpp"
#include "spec/setting.hpp"

namespace gnnbench {

namespace {

/// Elements of one job array at most; Slurm's default allows 1,001.
constexpr std::size_t most_elements = 1000;

/// The resources that a job requests: jobs that differ in them cannot share an array.
using Shape = std::tuple<int, int, bool>;
Shape shape_of_need(const LaunchNeed& need) { return {need.ranks, need.threads_per_rank, need.gpus}; }

}  // namespace

JobSubmission::JobSubmission(const SweepContext& context, SweepReport& report)
    : prepared_(context.prepared),
      database_(context.database),
      fingerprint_(context.runner.machine_fingerprint()),
      file_(prepared_.experiment.launcher.file),
      launcher_(dynamic_cast<const DeclaredLauncher&>(*context.runner.launcher())),
      queue_(launcher_.declaration()),
      rules_(context.rules),
      report_(report) {}

/// Cells in random order, each by itself; together where one verification serves several, or where one job is to run
/// all.
std::vector<JobSubmission::Group> JobSubmission::groups_of(const std::vector<DueCell>& due) const {
    const std::vector<std::vector<std::int64_t>> one_each(due.size(), {0});
    const bool one_job = prepared_.experiment.launcher.jobs == "one";
    std::vector<Group> groups;
    std::map<std::string, std::size_t> by_key;
    for (const ScheduledTrial& turn : in_random_blocks(one_each, rules_.order_seed)) {
        const DueCell& cell = due[turn.cell];
        const std::string& key = cell.cell->record.verification_key;
        const bool computes = !cell.cell->simulated || simulates_values(cell.cell->cell);
        const bool verifies = rules_.verify && computes && !known_verified(*cell.cell, database_);
        const auto known = by_key.find(key);
        const bool joins = one_job ? !groups.empty() : verifies && known != by_key.end();
        if (!joins) groups.emplace_back();
        const std::size_t group = one_job ? 0 : joins ? known->second : groups.size() - 1;
        if (verifies) groups[group].unverified.insert(key);
        by_key.emplace(key, group);
        groups[group].cells.push_back(&cell);
    }
    return groups;
}

JobTask::Trial JobSubmission::trial_of(const DueCell& cell, std::size_t index, std::int64_t number) const {
    return {.cell = index,
            .purpose = Purpose::measure,
            .number = number,
            .timeout_s = prepared_.experiment.limits.trial_timeout_s,
            .export_folder = export_folder_of(rules_, *cell.cell, number),
            .reference = {},
            .trace_epochs = rules_.trace_epochs};
}

JobTask::Trial JobSubmission::verification_of(const DueCell& cell, std::size_t index) const {
    const TrialOrder order = verification_order(*cell.cell, prepared_.experiment.limits, database_);
    return {.cell = index,
            .purpose = Purpose::verify,
            .number = 0,
            .timeout_s = order.timeout_s,
            .export_folder = {},
            .reference = order.verify.reference,
            .trace_epochs = {},
            .asks_partitioner = order.verify.asks_partitioner};
}

JobTask JobSubmission::claimed(const Group& group, const std::string& journal) {
    JobTask task{.experiment = prepared_.experiment.name,
                 .source = source_of(prepared_.experiment),
                 .machine = to_json(launcher_.machine()),
                 .database = std::filesystem::absolute(database_.path()),
                 .journal = journal,
                 .retries = rules_.retries,
                 .launcher = file_,
                 .settings = launcher_.settings(),
                 .nodes = launcher_.nodes(),
                 .cells = {},
                 .trials = {}};
    const std::string journal_name = task.journal.filename().string();
    const auto claim = [&](const JobTask::Trial& trial, int seen) {
        const Claim taken = claim_trial(database_, journal_name, key_of(task.order(trial), fingerprint_), seen);
        if (taken.state == ClaimState::claimed) task.trials.push_back(trial);
        return taken.state == ClaimState::claimed;
    };
    std::vector<std::vector<std::int64_t>> missing;
    for (const DueCell* cell : group.cells) {
        task.cells.push_back(*cell->cell);
        missing.push_back(cell->missing);
    }
    std::set<std::string> unverified = group.unverified;
    bool measures = false;
    for (const ScheduledTrial& turn : in_random_blocks(missing, rules_.order_seed)) {
        const DueCell& cell = *group.cells[turn.cell];
        if (unverified.erase(cell.cell->record.verification_key) > 0) {  // just before the first trial, as here
            const JobTask::Trial check = verification_of(cell, turn.cell);
            claim(check, conclusive_trials(database_, key_of(task.order(check), fingerprint_)));
        }
        const auto seen = cell.conclusive.find(turn.index);
        JobTask::Trial trial = trial_of(cell, turn.cell, turn.index);
        const std::string& key = cell.cell->record.verification_key;
        if (rules_.verify && !cell.cell->simulated && !late_steps_.contains(key) && database_.late_step_due(key))
            trial.late_step_timeout_s = prepared_.experiment.limits.verify_timeout_s;
        if (claim(trial, seen == cell.conclusive.end() ? 0 : seen->second)) {
            measures = true;
            if (trial.late_step_timeout_s > 0) late_steps_.insert(key);
        } else {
            ++report_.run_by_others;
        }
    }
    if (!measures) task.trials.clear();
    return task;
}

LaunchNeed JobSubmission::need_of(const Group& group) const {
    LaunchNeed need;
    for (const DueCell* due : group.cells) {
        const Cell& cell = due->cell->cell;
        // One process simulates all ranks.
        need.ranks = std::max(need.ranks, cell.scheme.is_program() || due->cell->simulated ? 1 : cell.gpus);
        need.threads_per_rank = std::max(need.threads_per_rank, cell.threads_per_rank);
        need.gpus = need.gpus || !due->cell->in_host_memory;
    }
    return need;
}

/// Neighbours of one shape share an array.
std::vector<JobBatch> JobSubmission::batches_of(const JobFolder& folder,
                                                const std::vector<LaunchNeed>& needs) const {
    const LauncherChoice& launcher = prepared_.experiment.launcher;
    const bool arrays = launcher.jobs == "array" && launcher.has_arrays();
    std::vector<JobBatch> batches;
    for (std::size_t i = 0; i < needs.size(); ++i) {
        const bool joins = arrays && i > 0 && shape_of_need(needs[i]) == shape_of_need(needs[i - 1]) &&
                           batches.back().tasks < most_elements;
        if (joins)
            ++batches.back().tasks;
        else
            batches.push_back({.name = fmt::format("gnnbench-{}-{}", folder.id(), batches.size()),
                               .job = {},
                               .array = arrays,
                               .first = i,
                               .tasks = 1});
    }
    return batches;
}

std::string JobSubmission::submit(const JobFolder& folder, const JobBatch& batch, std::size_t number,
                                  const LaunchNeed& need) const {
    const auto& array = queue_.declaration().jobs->array;
    return queue_.submit(
        {.name = batch.name,
         .script_file = folder.script(number),
         .log_file = folder.log(number, batch.array ? array.value().log : ""),
         .settings = launcher_.settings(),
         .nodes = launcher_.nodes(),
         .need = need,
         .elements = batch.array ? static_cast<int>(batch.tasks) : 0,
         .at_once = rules_.jobs,
         .before = prepared_.experiment.launcher.before,
         .command = {std::filesystem::read_symlink("/proc/self/exe"), "job-task", folder.path().string()},
         .first = batch.first});
}

std::optional<JobSubmission::Submitted> JobSubmission::submit(const std::vector<DueCell>& due) {
    if (due.empty()) return std::nullopt;
    Submitted submitted{JobFolder::create(database_.path()), {}};
    const JobFolder& folder = submitted.folder;
    std::vector<Group> groups = groups_of(due);
    std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
        return shape_of_need(need_of(a)) < shape_of_need(need_of(b));
    });
    std::vector<LaunchNeed> needs;  // of each task
    for (const Group& group : groups) {
        const std::size_t number = needs.size();
        const std::filesystem::path journal = folder.journal(database_.path(), number);
        // Before its claims: a claim whose journal is missing has no owner.
        create_job_journal(database_.path(), fmt::format("{}-{}", folder.id(), number));
        const JobTask task = claimed(group, journal.string());
        if (task.trials.empty()) {
            // Releases its claim, if any, on a verification.
            collect_journal(database_, journal, [](const std::string&) { return TrialOutcome{}; });
            continue;
        }
        folder.write_task(number, task);
        needs.push_back(need_of(group));
        needs.back().time_s = task.time_s();
    }
    if (needs.empty()) {
        folder.remove();
        return std::nullopt;
    }
    submitted.batches = batches_of(folder, needs);
    // Recorded by name before they are submitted, so that a kill at this point never causes a second submission.
    folder.write_batches(submitted.batches, file_);
    for (std::size_t b = 0; b < submitted.batches.size(); ++b) {
        JobBatch& batch = submitted.batches[b];
        LaunchNeed need = needs[batch.first];
        for (std::size_t task = batch.first; task < batch.first + batch.tasks; ++task)
            need.time_s = std::max(need.time_s, needs[task].time_s);
        batch.job = submit(folder, batch, b, need);
        folder.write_batches(submitted.batches, file_);
    }
    return submitted;
}

}  // namespace gnnbench
