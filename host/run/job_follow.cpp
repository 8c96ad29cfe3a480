#include "run/job_follow.hpp"

#include <algorithm>
#include <chrono>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/plural.hpp"
#include "launch/interrupt.hpp"
#include "report/format.hpp"

namespace gnnbench {

using nlohmann::json;

namespace {

/// Polls of the queue without a job before it counts as gone: a busy controller forgets nothing, but a job
/// that was just submitted may not be listed yet.
constexpr int most_unseen = 3;

/// Label of a trial, from its first line.
std::string trial_label(const json& line) {
    const std::string what = cell_label(line.at("cell"));
    return line.at("purpose") == "measure" ? fmt::format("{} trial {}", what, line.at("index").get<int>() + 1)
                                           : "verify " + what;
}

}  // namespace

JobFollower::JobFollower(Database& database, TrialRunner& runner, const SweepRules& rules, double poll_s,
                         Progress& progress)
    : database_(database), runner_(runner), rules_(rules), poll_s_(poll_s), progress_(progress) {}

void JobFollower::add(JobFolder folder, std::vector<JobBatch> batches, const json& launcher) {
    Submission s{std::move(folder), std::move(batches), {}, JobQueue(launcher_declaration(launcher)), true};
    for (std::size_t b = 0; b < s.batches.size(); ++b)
        for (std::size_t e = 0; e < s.batches[b].tasks; ++e) {
            Task task{.number = s.batches[b].first + e,
                      .batch = b,
                      .element = {},
                      .tail = {},
                      .job = {},
                      .started = {},
                      .skipped = {}};
            if (s.batches[b].array) task.element = std::to_string(e);
            // If another follower was killed between two steps, some are already collected.
            std::error_code none;
            const auto journal = s.folder.journal(database_.path(), task.number);
            if (std::filesystem::exists(journal, none)) task.tail.emplace(journal);
            s.tasks.push_back(std::move(task));
        }
    submissions_.push_back(std::move(s));
}

std::size_t JobFollower::jobs() const {
    std::size_t count = 0;
    for (const Submission& s : submissions_)
        count +=
            usize(std::count_if(s.tasks.begin(), s.tasks.end(), [](const Task& t) { return t.tail.has_value(); }));
    return count;
}

std::vector<std::string> JobFollower::names() const {
    std::vector<std::string> names;
    for (const Submission& s : submissions_) names.push_back("gnnbench-" + s.folder.id());
    return names;
}

void JobFollower::poll_once() {
    read_journals();
    read_queue();
    finish_submissions();
}

void JobFollower::follow() {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](double s) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
    };
    double pause_s = 1;
    auto next = Clock::now() + seconds(pause_s);
    bool cancelled = false;
    while (jobs() > 0) {
        show();
        usleep(500'000);  // a signal ends it early
        if (InterruptGuard::requested()) {
            report_.interrupted = true;
            report_.jobs_left = jobs();
            return;
        }
        bool news = read_journals();
        if (rules_.max_failures > 0 && report_.failed >= usize(rules_.max_failures) && !cancelled) {
            report_.stopped_early = cancelled = true;
            cancel();
            news = true;
        }
        // Polls often while jobs change state and seldom otherwise: many users share the controller.
        if (news) {
            pause_s = 1;
            next = std::min(next, Clock::now() + seconds(pause_s));
        }
        if (Clock::now() < next) continue;
        pause_s = read_queue() ? 1 : std::min(poll_s_, 1.5 * pause_s);
        next = Clock::now() + seconds(pause_s);
        finish_submissions();
    }
}

void JobFollower::cancel() {
    for (const Submission& s : submissions_) {
        std::vector<std::string> ids;
        for (const JobBatch& batch : s.batches)
            if (!batch.job.empty()) ids.push_back(batch.job);
        s.queue.cancel(ids);
    }
}

bool JobFollower::read_journals() {
    bool news = false;
    for (Submission& s : submissions_)
        for (Task& task : s.tasks) {
            if (!task.tail) continue;
            for (std::vector<json> lines = task.tail->poll(); !lines.empty(); lines = task.tail->poll()) {
                if (const ApplyResult applied = database_.apply(lines); !applied.problems.empty())
                    throw LogicError("a job's journal violates the contract: " + applied.problems.front());
                for (const json& line : lines) {
                    read_line(s, task, line);
                    news = news || line.at("type") == "outcome";
                }
            }
        }
    return news;
}

void JobFollower::read_line(Submission& submission, Task& task, const json& line) {
    const std::string type = line.at("type"), trial = line.at("trial");
    if (type == "trial")
        task.started[trial] = {.label = trial_label(line),
                               .cell = line.at("cell_digest"),
                               .number = line.at("index"),
                               .measures = line.at("purpose") == "measure",
                               .over = false,
                               .reader = TrialReader(trial)};
    const auto found = task.started.find(trial);
    if (found == task.started.end()) return;
    found->second.reader.read(std::span(&line, 1));
    if (type != "outcome") return;
    const TrialOutcome outcome{.trial = trial,
                               .status = trial_status(line.at("status").get<std::string>()),
                               .reason = line.value("reason", ""),
                               .log_tail = "",
                               .ended = "",
                               .wall_s = line.value("wall_s", 0.0)};
    found->second.over = true;
    if (outcome.status == TrialStatus::skipped) task.skipped.insert(found->second.cell);
    submission.all_well =
        submission.all_well && (outcome.status == TrialStatus::ok || outcome.status == TrialStatus::skipped);
    report_outcome(found->second, found->second.reader.result(outcome));
}

void JobFollower::report_outcome(const StartedTrial& trial, const TrialResult& result) {
    const bool skipped = result.status == TrialStatus::skipped;
    if (!trial.measures) {
        if (skipped) return;
        if (result.verification == VerificationStatus::failed) ++report_.failed_verification;
        progress_.message(verification_message(trial.label,
                                               result.verification.value_or(VerificationStatus::unverified),
                                               result.verification ? result.verification_reason : result.reason));
        return;
    }
    const bool ended = result.status != TrialStatus::interrupted;
    const bool unmeasured = is_unmeasured(result.reason);
    if (ended && !skipped) report_.trials.push_back(result.trial);
    report_.run += ended && !skipped && !unmeasured;
    report_.unmeasured += unmeasured;
    report_.skipped += skipped;
    report_.never_begun += !ended;
    report_.failed += ended && !skipped && result.status != TrialStatus::ok;
    progress_.message(trial_message(trial.label, result));
}

/// Whether a job that no answer mentioned has been unseen for long enough.
bool JobFollower::is_gone(Task& task, double patience_s) {
    const auto now = std::chrono::steady_clock::now();
    if (++task.unseen == 1) task.unseen_since = now;
    return task.unseen > most_unseen && now - task.unseen_since >= std::chrono::duration<double>(patience_s);
}

/// One question covers all jobs of a scheduler.
std::vector<QueuedJob> JobFollower::listed_jobs(const JobQueue& queue) const {
    std::vector<std::string> unseen;
    for (const Submission& s : submissions_)
        for (const Task& t : s.tasks)
            if (t.tail && t.unseen > 0 && s.queue.declaration().name == queue.declaration().name)
                unseen.push_back(s.batches[t.batch].job);
    return queue.jobs_named("gnnbench-", !unseen.empty(), unseen);
}

/// Whether anything changed.
bool JobFollower::read_queue() {
    if (jobs() == 0) return false;
    std::map<std::string, std::vector<QueuedJob>> listed;  // by launcher
    bool news = false;
    for (Submission& s : submissions_) {
        const LauncherDeclaration& launcher = s.queue.declaration();
        if (!listed.contains(launcher.name)) try {
                listed[launcher.name] = listed_jobs(s.queue);
            } catch (const EnvironmentError& error) {
                // The scheduler is restarting or too busy; this does not affect the jobs.
                progress_.message(
                    fmt::format("{} does not answer; retrying: {}", launcher.scheduler, first_line(error.what())));
                continue;
            }
        const std::vector<QueuedJob>& known = listed.at(launcher.name);
        for (Task& task : s.tasks) {
            if (!task.tail) continue;
            const JobBatch& batch = s.batches[task.batch];
            const auto found = std::find_if(known.begin(), known.end(), [&](const QueuedJob& j) {
                return j.id == batch.job && j.element == task.element;
            });
            if (found != known.end()) {
                news = news || task.job.word != found->word;
                task.job = *found;
                task.unseen = 0;
            } else if (is_gone(task, launcher.jobs->patience_s)) {
                task.job = {.id = batch.job,
                            .element = task.element,
                            .name = batch.name,
                            .word = "and is no longer listed",
                            .reason = {},
                            .state = QueuedJob::State::ended,
                            .end = TrialStatus::interrupted};
            }
            if (task.job.ended()) collect(s, task), news = true;
        }
    }
    return news;
}

/// Removes folders of submissions that are completely in the database; keeps scripts and logs of failed ones.
void JobFollower::finish_submissions() {
    std::erase_if(submissions_, [](const Submission& s) {
        const bool over =
            std::none_of(s.tasks.begin(), s.tasks.end(), [](const Task& t) { return t.tail.has_value(); });
        if (over && s.all_well) s.folder.remove();
        if (over && !s.all_well) s.folder.close();
        return over;
    });
}

void JobFollower::show() const {
    std::map<std::string, std::size_t> states;
    std::size_t epochs = 0;
    for (const Submission& s : submissions_)
        for (const Task& t : s.tasks) {
            if (!t.tail) continue;
            ++states[t.job.word.empty()                         ? "submitted"
                     : t.job.state == QueuedJob::State::running ? "running"
                     : t.job.state == QueuedJob::State::waiting ? "waiting"
                                                                : t.job.word];
            for (const auto& [trial, started] : t.started)
                if (!started.over) epochs += usize(started.reader.progress().epochs);
        }
    std::string text = plural(jobs(), "job") + ":";
    for (const auto& [state, count] : states) text += fmt::format(" {} {},", count, state);
    text += fmt::format(" {} trials run{}", report_.run,
                        report_.failed ? fmt::format(", {} failed", report_.failed) : "");
    if (epochs) text += fmt::format(", {} epochs of running trials", epochs);
    progress_.status(text);
}

}  // namespace gnnbench
