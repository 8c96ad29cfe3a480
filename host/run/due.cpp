#include "run/due.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

namespace gnnbench {

SweepReport& SweepReport::operator+=(const SweepReport& o) {
    due += o.due;
    run += o.run;
    already_done += o.already_done;
    failed_before += o.failed_before;
    skipped += o.skipped;
    failed += o.failed;
    verified += o.verified;
    failed_verification += o.failed_verification;
    run_by_others += o.run_by_others;
    unstarted += o.unstarted;
    never_begun += o.never_begun;
    jobs_left += o.jobs_left;
    unmeasured += o.unmeasured;
    trials.insert(trials.end(), o.trials.begin(), o.trials.end());
    interrupted = interrupted || o.interrupted;
    stopped_early = stopped_early || o.stopped_early;
    return *this;
}

TrialOrder verification_order(const PreparedCell& cell, const Limits& limits, const Database& database) {
    TrialOrder order{.cell = cell, .purpose = Purpose::verify, .timeout_s = limits.verify_timeout_s};
    order.verify.reference = reference_cache(database.path()).string();
    order.verify.asks_partitioner =
        !partitioner_was_asked(database.connection(), cell.record.code.value("partitioner", ""));
    return order;
}

void record_skipped(const SweepContext& context, const PreparedCell& cell, const std::string& reason,
                    SweepReport& report) {
    ++report.skipped;
    TrialRunner& runner = context.runner;
    // Once for each reason, also where an older build measured the cell.
    if (!context.database.was_skipped(cell.record.digest, runner.machine_fingerprint(), reason))
        runner.record_not_run({.cell = cell}, TrialStatus::skipped, reason);
    context.progress.message(fmt::format("skipped  {}: {}", cell_label(cell), reason));
}

std::vector<DueCell> due_cells(const SweepContext& context, SweepReport& report) {
    const auto& [prepared, plan, database, runner, rules, progress] = context;
    std::vector<DueCell> all;
    std::vector<std::string> again;
    for (const PlannedCell& planned : plan.cells) {
        const PreparedCell& cell = prepared.cells[planned.cell];
        if (planned.verdict == Verdict::skipped) {
            record_skipped(context, cell, planned.reason, report);
            continue;
        }
        const auto states = database.trials_of(cell.record.digest, runner.machine_fingerprint());
        const DueTrials trials = due_trials(states, prepared.experiment.trials, rules.plan, cell.record.code);
        report.due += trials.due.size();
        report.already_done += usize(prepared.experiment.trials) - trials.due.size();
        if (rules.plan.again == Again::missing) report.failed_before += usize(trials.stored.failed);
        if (trials.due.empty()) continue;
        DueCell due{&cell, {}, trials.due};
        for (const TrialState& state : states) {
            due.conclusive[state.number] = state.conclusive;
            if (is_conclusive(state.status) && std::ranges::count(trials.due, state.number) > 0)
                again.push_back(state.trial);
        }
        all.push_back(std::move(due));
    }
    database.request_rerun(again);
    return all;
}

bool known_verified(const PreparedCell& cell, const Database& database) {
    const auto known = database.verification(cell.record.verification_key);
    return known && is_settled(*known, cell.approximation);
}

std::string export_folder_of(const SweepRules& rules, const PreparedCell& prepared, std::int64_t number) {
    if (rules.export_folder.empty()) return {};
    const Cell& cell = prepared.cell;
    return std::filesystem::absolute(std::filesystem::path(rules.export_folder) /
                                     fmt::format("{}-{}-{}-{}", cell.dataset.name, cell.scheme.name, cell.gpus,
                                                 prepared.record.digest.substr(0, 8)) /
                                     std::to_string(number))
        .string();
}

}  // namespace gnnbench
