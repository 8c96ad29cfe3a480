#include "run/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include <gnnbench/usize.hpp>

#include "launch/interrupt.hpp"
#include "report/format.hpp"

namespace gnnbench {

namespace {

/// Seconds since it was made.
class Stopwatch {
public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Sweep::Sweep(const SweepContext& context)
    : prepared_(context.prepared),
      plan_(context.plan),
      database_(context.database),
      runner_(context.runner),
      rules_(context.rules),
      progress_(context.progress),
      jobs_(std::max(1, context.rules.jobs)) {}

SweepReport Sweep::run() {
    due_ = due_cells(context(), report_);
    pending_ = PendingVerifications::of(context());
    measure_all();
    // What is there already: measured by code that may have been built anew since.
    for (std::string key; !over() && !(key = pending_.left()).empty();) {
        pending_.take(key);
        if (!verify(runner_, key, pending_.position())) pending_.finished(key);
    }
    report_.failed_verification = failed_verification_.size();
    return report_;
}

bool Sweep::verify(TrialRunner& runner, const std::string& key, const std::string& position) {
    bool held = false;
    // Whatever happens, nobody waits for it any longer.
    const std::shared_ptr<void> end(nullptr, [&](void*) {
        const std::lock_guard lock(guard_);
        held ? pending_.reopen(key) : pending_.finished(key);
        verified_.notify_all();
    });
    const PendingVerifications::Combination combination = [&] {
        const std::lock_guard lock(guard_);
        return pending_.combination(key);
    }();
    const PreparedCell& cell = *combination.cell;
    // Another run may have verified it since: what is counted before that is looked up cannot have been missed.
    TrialOrder order = verification_order(cell, prepared_.experiment.limits, runner.database());
    order.seen_verifications = conclusive_trials(runner.database(), key_of(order, runner.machine_fingerprint()));
    if (needs_no_verification(combination, runner.database())) return true;
    const std::string what = fmt::format("{} {}", position, cell_label(cell));
    const Stopwatch watch;
    const auto show = [&](const TrialProgress& p) {
        const std::lock_guard lock(guard_);
        progress_.status(what, fmt::format("  epoch {}  {}", p.epochs, duration_text(watch.seconds())));
    };
    show({});
    const TrialResult result = runner.run(order, show);
    const std::lock_guard lock(guard_);
    held = result.claim == ClaimState::held_by_other;
    if (result.claim != ClaimState::claimed) return !held;
    unstarted_in_a_row_ *= result.unstarted;
    if (result.unstarted) {
        did_not_start(result, what);
    } else if (result.status == TrialStatus::interrupted) {
        report_.interrupted = true;
    } else if (result.status == TrialStatus::skipped) {
        skip_combination(runner, key, result.reason);
    } else {
        const auto record = runner.database().verification(key);
        VerificationStatus status = record ? record->status : VerificationStatus::unverified;
        std::string reason = record ? record->reason : result.reason;
        // Where a late step failed before, this says that trials may show whether it still does.
        if (result.verification) {
            status = *result.verification;
            reason = result.verification_reason;
        }
        count_verification(key, what, status, reason);
    }
    return true;
}

void Sweep::count_verification(const std::string& key, const std::string& what, VerificationStatus status,
                               const std::string& reason) {
    if (status == VerificationStatus::failed) failed_verification_[key] = first_line(reason);
    ++report_.verified;
    const std::string message = verification_message(what, status, reason);
    if (status == VerificationStatus::failed)
        progress_.problem(message);
    else
        progress_.message(message);
}

void Sweep::skip_combination(TrialRunner& runner, const std::string& key, const std::string& reason) {
    const SweepContext here{prepared_, plan_, runner.database(), runner, rules_, progress_};
    for (std::size_t i = 0; i < due_.size(); ++i)
        if (due_[i].cell->record.verification_key == key && skipped_.insert(i).second)
            record_skipped(here, *due_[i].cell, reason, report_);
}

namespace {

/// What a thread needs to run trials concurrently: its own connection and journal.
struct ParallelRunner {
    ParallelRunner(const std::filesystem::path& path, const Experiment& experiment, const TrialRunner& first,
                   int jobs)
        : database(path), runner(database, experiment, first.launcher(), jobs, first.cores()) {}
    Database database;
    TrialRunner runner;
};

}  // namespace

void Sweep::measure_all() {
    if (rules_.verify)
        for (const DueCell& due : due_)
            if (!due.cell->simulated && database_.late_step_due(due.cell->record.verification_key))
                late_steps_.insert(due.cell->record.verification_key);
    std::vector<std::vector<std::int64_t>> missing;
    for (const DueCell& due : due_) missing.push_back(due.missing);
    std::vector<ScheduledTrial> waiting = in_random_blocks(missing, rules_.order_seed);
    pace_ = Pace(waiting.size());
    std::vector<std::unique_ptr<ParallelRunner>> parallel;
    for (int i = 1; i < std::min(jobs_, static_cast<int>(waiting.size())); ++i)
        parallel.push_back(
            std::make_unique<ParallelRunner>(database_.path(), prepared_.experiment, runner_, jobs_));
    // Trials that other processes claimed are checked again once the rest is done.
    while (!waiting.empty() && !over()) {
        const std::size_t all = waiting.size();
        std::vector<ScheduledTrial> held;
        std::reverse(waiting.begin(), waiting.end());  // taken from the end
        std::vector<std::future<void>> others;
        for (auto& one : parallel)
            others.push_back(std::async(std::launch::async, [&] { work(one->runner, waiting, held); }));
        work(runner_, waiting, held);
        for (auto& other : others) other.get();
        if (held.size() == all) {
            progress_.status(
                fmt::format("waiting for another gnnbench that is running {} of these trials", held.size()));
            usleep(1'000'000);  // a signal ends it early
            report_.interrupted = InterruptGuard::requested();
        }
        waiting = std::move(held);
    }
    for (auto& one : parallel) one->runner.finish();
}

std::optional<Sweep::Turn> Sweep::next_turn(std::vector<ScheduledTrial>& waiting) {
    std::unique_lock lock(guard_);
    while (!waiting.empty() && !over()) {
        const auto next = std::find_if(waiting.rbegin(), waiting.rend(), [&](const ScheduledTrial& trial) {
            return !pending_.running(key_of_trial(trial));
        });
        if (next == waiting.rend()) {
            verified_.wait(lock);
            continue;
        }
        Turn turn{*next, {}};
        waiting.erase(std::next(next).base());
        if (!skipped_.contains(turn.trial.cell) && pending_.take(key_of_trial(turn.trial)))
            turn.verify_first = pending_.position();
        return turn;
    }
    return std::nullopt;
}

void Sweep::work(TrialRunner& runner, std::vector<ScheduledTrial>& waiting, std::vector<ScheduledTrial>& held) {
    while (const std::optional<Turn> turn = next_turn(waiting)) {
        const std::string& key = key_of_trial(turn->trial);
        const bool checked = turn->verify_first.empty() || verify(runner, key, turn->verify_first);
        {
            const std::lock_guard lock(guard_);
            if (over()) return;
        }
        if (checked && measure(runner, turn->trial)) continue;
        const std::lock_guard lock(guard_);
        held.push_back(turn->trial);
    }
}

TrialOrder Sweep::order_of(const ScheduledTrial& scheduled) const {
    const DueCell& due = due_[scheduled.cell];
    TrialOrder order{.cell = *due.cell,
                     .number = scheduled.index,
                     .timeout_s = prepared_.experiment.limits.trial_timeout_s,
                     .export_folder = export_folder_of(rules_, *due.cell, scheduled.index),
                     .trace_epochs = rules_.trace_epochs};
    if (const auto seen = due.conclusive.find(scheduled.index); seen != due.conclusive.end())
        order.seen_conclusive = seen->second;
    return order;
}

bool Sweep::measure(TrialRunner& runner, const ScheduledTrial& scheduled) {
    TrialOrder order = order_of(scheduled);
    const Cell& cell = order.cell.cell;
    const std::string& key = order.cell.record.verification_key;
    std::string what, failed_verification;
    {
        const std::lock_guard lock(guard_);
        if (const auto failed = failed_verification_.find(key); failed != failed_verification_.end())
            failed_verification = failed->second;
        if (skipped_.contains(scheduled.cell)) {
            pace_.finished(0);
            return true;
        }
        what = fmt::format("[{}/{}] {} trial {}", pace_.done() + 1, pace_.trials(), cell_label(order.cell),
                           scheduled.index + 1);
        if (failed_verification.empty() && late_steps_.erase(key) > 0)
            order.late_step_timeout_s = prepared_.experiment.limits.verify_timeout_s;
    }
    const bool runs = failed_verification.empty(), has_late_step = order.late_step_timeout_s > 0;
    const Stopwatch watch;
    const auto show = [&](const TrialProgress& p) { show_progress(what, cell, p, watch.seconds()); };
    for (int retries = rules_.retries;; --retries) {
        const TrialResult result =
            runs ? runner.run(order, show)
                 : runner.record_not_run(order, TrialStatus::failed, unmeasured_reason(failed_verification));
        const std::lock_guard lock(guard_);
        for (const std::string& problem : result.damaged_journals)
            progress_.message("damaged journal: " + problem);
        // What another process has, or what did not end well, leaves the step to the next trial.
        if (has_late_step && !result.verification) late_steps_.insert(key);
        if (result.claim == ClaimState::held_by_other) return false;
        if (has_late_step) note_late_step(key, result, what);
        const bool by_chance = runs && (may_be_chance(result.status) || result.unstarted);
        if (result.claim == ClaimState::claimed && by_chance && retries > 0) {
            progress_.message(
                fmt::format("{}: {}: {}; once more", what, to_text(result.status), first_line(result.reason)));
            order.seen_conclusive += !result.unstarted;
            continue;
        }
        if (result.status == TrialStatus::skipped) report_.skipped += skipped_.insert(scheduled.cell).second;
        count(result, what);
        return true;
    }
}

/// The caller holds the guard.
void Sweep::note_late_step(const std::string& key, const TrialResult& result, const std::string& what) {
    if (result.verification.value_or(VerificationStatus::verified) == VerificationStatus::verified) return;
    if (result.verification == VerificationStatus::failed)
        failed_verification_[key] = first_line(result.verification_reason);
    progress_.problem(verification_message(what, *result.verification, result.verification_reason));
}

void Sweep::show_progress(const std::string& what, const Cell& cell, const TrialProgress& p, double running_s) {
    const std::lock_guard lock(guard_);
    const double left_s = pace_.left_s(running_s) / jobs_;
    progress_.status(what, fmt::format("  {}epoch {}/{}{}{}", left_s >= 0 ? duration_text(left_s) + " left, " : "",
                                       p.epochs, cell.warmup + cell.epochs,
                                       p.epoch_s > 0 ? ", " + duration_text(p.epoch_s) + " each" : "",
                                       report_.failed ? fmt::format(", {} failed", report_.failed) : ""));
}

void Sweep::did_not_start(const TrialResult& result, const std::string& what) {
    ++report_.unstarted;
    ++unstarted_in_a_row_;
    std::string log = result.log_tail;
    while (log.ends_with('\n')) log.pop_back();
    for (std::size_t at = log.size(), lines = 0; at > 0 && lines < 8;) {  // the last ones say why
        at = log.rfind('\n', at - 1);
        if (at == std::string::npos) break;
        if (++lines == 8) log.erase(0, at + 1);
    }
    progress_.problem(fmt::format("{}: {}{}{}", what, result.reason, log.empty() ? "" : "; it said:\n", log));
}

/// Reports a finished trial. The caller holds the guard.
void Sweep::count(const TrialResult& result, const std::string& what) {
    pace_.finished(result.wall_s);
    if (result.claim == ClaimState::done_by_other) {
        ++report_.run_by_others;
        return;
    }
    if (result.unstarted) return did_not_start(result, what);
    unstarted_in_a_row_ = 0;
    if (result.status == TrialStatus::interrupted) {
        report_.interrupted = true;
        progress_.message(what + ": interrupted");
        return;
    }
    const bool skipped = result.status == TrialStatus::skipped;
    const bool unmeasured = is_unmeasured(result.reason);
    if (!skipped) report_.trials.push_back(result.trial);
    report_.run += !skipped && !unmeasured;
    report_.unmeasured += unmeasured;
    const bool good = result.status == TrialStatus::ok || skipped;
    report_.failed += !good;
    report_.stopped_early = rules_.max_failures > 0 && report_.failed >= usize(rules_.max_failures);
    if (good)
        progress_.message(trial_message(what, result));
    else
        progress_.problem(trial_message(what, result));
    progress_.detail(fmt::format("  trial {}, {} in all", result.trial, duration_text(result.wall_s)));
    if (!good && !result.log_tail.empty()) progress_.detail("  its log ends with:\n" + result.log_tail);
}

}  // namespace gnnbench
