#include "run/job_follow.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/interrupt.hpp"
#include "launch/sbatch.hpp"
#include "launch/trial.hpp"
#include "record/replay.hpp"
#include "report/format.hpp"

namespace gnnbench {

using nlohmann::json;

namespace {

/// Polls of the queue without a job before it counts as gone: a busy controller forgets nothing, but a job
/// that was just submitted may not be listed yet.
constexpr int most_unseen = 3;

std::string label_of(const json& line) {
    const CellRecord cell = cell_record_from_json(line);
    const std::string partitioner = cell.gpus > 1 ? " " + cell.partitioner_label : "";
    const std::string what = fmt::format("{} {}{} {} gpu{}", cell.dataset, cell.scheme_label, partitioner,
                                         cell.gpus, cell.gpus == 1 ? "" : "s");
    return line.at("purpose") == "measure" ? fmt::format("{} trial {}", what, line.at("index").get<int>() + 1)
                                           : "verify " + what;
}

}  // namespace

JobFollower::JobFollower(Database& database, TrialRunner& runner, const SweepRules& rules, double poll_s,
                         Progress& progress)
    : database_(database), runner_(runner), rules_(rules), poll_s_(poll_s), progress_(progress) {}

void JobFollower::add(JobFolder folder, std::vector<JobBatch> batches) {
    Submission s{std::move(folder), std::move(batches), {}, true};
    for (std::size_t b = 0; b < s.batches.size(); ++b)
        for (std::size_t e = 0; e < s.batches[b].tasks; ++e) {
            Task task{.number = s.batches[b].first + e,
                      .batch = b,
                      .element = {},
                      .tail = {},
                      .job = {},
                      .begun = {},
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

/// Of a submission whose maker was killed before all was submitted: what Slurm does not know of is undone. False
/// where nothing is left of it.
bool JobFollower::give_up(JobFolder& folder, std::vector<JobBatch>& batches) {
    const std::vector<SlurmJob> known = jobs_named("gnnbench-" + folder.id(), true);
    std::set<std::size_t> kept;
    std::erase_if(batches, [&](JobBatch& batch) {
        const auto found =
            std::find_if(known.begin(), known.end(), [&](const SlurmJob& j) { return j.name == batch.name; });
        if (found != known.end()) batch.job = found->id.substr(0, found->id.find('_'));
        // A job that Slurm has forgotten may have run; if so, its journal has lines.
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
    if (!batches.empty()) folder.write_batches(batches);
    return !batches.empty();
}

void JobFollower::adopt() {
    for (JobFolder& folder : JobFolder::left(database_.path())) {
        std::vector<JobBatch> batches = folder.batches();
        const bool whole = !batches.empty() && std::none_of(batches.begin(), batches.end(),
                                                            [](const JobBatch& b) { return b.job.empty(); });
        if (!whole && !give_up(folder, batches)) {
            folder.remove();
            continue;
        }
        add(std::move(folder), std::move(batches));
    }
}

std::size_t JobFollower::jobs() const {
    std::size_t count = 0;
    for (const Submission& s : submissions_)
        count += static_cast<std::size_t>(
            std::count_if(s.tasks.begin(), s.tasks.end(), [](const Task& t) { return t.tail.has_value(); }));
    return count;
}

std::vector<std::string> JobFollower::names() const {
    std::vector<std::string> names;
    for (const Submission& s : submissions_) names.push_back("gnnbench-" + s.folder.id());
    return names;
}

void JobFollower::look() {
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
        if (rules_.max_failures > 0 && report_.failed >= static_cast<std::size_t>(rules_.max_failures) &&
            !cancelled) {
            report_.gave_up = cancelled = true;
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
    std::vector<std::string> ids;
    for (const Submission& s : submissions_)
        for (const JobBatch& batch : s.batches)
            if (!batch.job.empty()) ids.push_back(batch.job);
    cancel_jobs(ids);
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
        task.begun[trial] = {.label = label_of(line),
                             .cell = line.at("cell_digest"),
                             .number = line.at("index"),
                             .measures = line.at("purpose") == "measure",
                             .over = false,
                             .reader = TrialReader(trial)};
    const auto found = task.begun.find(trial);
    if (found == task.begun.end()) return;
    found->second.reader.read(std::span(&line, 1));
    if (type != "outcome") return;
    const TrialOutcome outcome{.trial = trial,
                               .status = line.at("status"),
                               .reason = line.value("reason", ""),
                               .log_tail = "",
                               .ended = "",
                               .wall_s = line.value("wall_s", 0.0)};
    found->second.over = true;
    if (outcome.status == "skipped") task.skipped.insert(found->second.cell);
    submission.all_well = submission.all_well && (outcome.status == "ok" || outcome.status == "skipped");
    tell(found->second, found->second.reader.result(outcome));
}

void JobFollower::tell(const Begun& trial, const TrialResult& result) {
    const bool skipped = result.status == "skipped";
    if (!trial.measures) {
        if (skipped) return;
        if (result.verification == "failed") ++report_.disproven;
        const std::string status = result.verification.empty() ? "unverified" : result.verification;
        const std::string& reason = result.verification.empty() ? result.reason : result.verification_reason;
        progress_.message(
            fmt::format("{}: {}{}", trial.label, status, reason.empty() ? "" : " (" + first_line(reason) + ")"));
        return;
    }
    const bool ended = result.status != "interrupted";
    report_.run += ended && !skipped;
    report_.skipped += skipped;
    report_.without_turn += !ended;
    report_.failed += ended && !skipped && result.status != "ok";
    progress_.message(fmt::format("{}: {}", trial.label,
                                  result.status == "ok" ? duration_text(result.epoch_s) + " per epoch"
                                                        : result.status + ": " + first_line(result.reason)));
}

/// Whether anything changed.
bool JobFollower::read_queue() {
    if (jobs() == 0) return false;
    std::vector<SlurmJob> known;
    try {
        bool unseen = false;
        for (const Submission& s : submissions_)
            for (const Task& t : s.tasks) unseen = unseen || (t.tail && t.unseen > 0);
        known = jobs_named("gnnbench-", unseen);
    } catch (const EnvironmentError& error) {
        // The controller is restarting or too busy; this does not affect the jobs.
        progress_.message(std::string("Slurm does not answer; retrying: ") + first_line(error.what()));
        return false;
    }
    bool news = false;
    for (Submission& s : submissions_)
        for (Task& task : s.tasks) {
            if (!task.tail) continue;
            const JobBatch& batch = s.batches[task.batch];
            const std::string id = task.element.empty() ? batch.job : batch.job + "_" + task.element;
            const auto found =
                std::find_if(known.begin(), known.end(), [&](const SlurmJob& j) { return j.id == id; });
            if (found != known.end()) {
                news = news || task.job.state != found->state;
                task.job = *found;
                task.unseen = 0;
            } else if (++task.unseen > most_unseen) {
                task.job = {id, batch.name, "forgotten by Slurm", ""};
            }
            const bool known_end = !task.job.state.empty() && task.job.ended();
            if (known_end) collect(s, task), news = true;
        }
    return news;
}

void JobFollower::collect(Submission& submission, Task& task) {
    // While a process holds the journal, Slurm's state is not final.
    read_journals();
    LaunchEnd end = end_of_job(task.job);
    if (task.job.state == "forgotten by Slurm") end.kind = EndKind::interrupted;
    end.log_tail = tail_of(submission.folder.log(task.batch, task.element));
    const ReplayResult replayed = collect_journal(
        database_, submission.folder.journal(database_.path(), task.number), [&](const std::string& trial) {
            Begun& begun = task.begun[trial];
            const TrialOutcome outcome = begun.reader.outcome(end);
            begun.over = true;
            submission.all_well = false;
            tell(begun, begun.reader.result(outcome));
            return outcome;
        });
    if (replayed.journals == 0) return;
    // On a network file system, the last lines may have become visible only with the lock; they are applied by now.
    for (std::vector<json> lines = task.tail->poll(); !lines.empty(); lines = task.tail->poll())
        for (const json& line : lines) read_line(submission, task, line);
    for (const std::string& problem : replayed.problems) progress_.message("damaged journal: " + problem);
    task.tail.reset();
    judge_unbegun(submission, task);
}

void JobFollower::judge_unbegun(Submission& submission, const Task& task) {
    const JobTask work = read_task(submission.folder.path(), task.number);
    const auto begun = [&](const JobTask::Trial& trial) {
        const std::string& cell = work.cells[trial.cell].record.digest;
        return task.skipped.contains(cell) ||
               std::any_of(task.begun.begin(), task.begun.end(), [&](const auto& b) {
                   return b.second.measures && b.second.cell == cell && b.second.number == trial.number;
               });
    };
    std::vector<JobTask::Trial> unbegun;
    for (const JobTask::Trial& trial : work.trials)
        if (trial.purpose == Purpose::measure && !begun(trial)) unbegun.push_back(trial);
    if (unbegun.empty()) return;
    submission.all_well = false;
    const LaunchEnd end = end_of_job(task.job);
    std::string log = tail_of(submission.folder.log(task.batch, task.element), 1000);
    while (log.ends_with('\n')) log.pop_back();
    // A failed node, a cancelled or timed-out job says nothing about the trials, which stay due. A job that fails
    // before it begins anything would do so again.
    if (task.begun.empty() && end.kind == EndKind::failed && task.job.state == "FAILED") {
        const std::string reason =
            fmt::format("{} before its first trial{}", end.reason, log.empty() ? "" : ": " + log);
        for (const JobTask::Trial& trial : unbegun) {
            runner_.record_unrun(work.order(trial), to_text(end.kind), reason);
            ++report_.failed, ++report_.run;
        }
        progress_.message(fmt::format("{}: {}", submission.batches[task.batch].name, reason));
        return;
    }
    report_.without_turn += unbegun.size();
    progress_.message(fmt::format("{}, and {} of its trials had not begun{}", end.reason, unbegun.size(),
                                  task.begun.empty() && !log.empty() ? ": " + log : ""));
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
            ++states[t.job.state.empty()        ? "submitted"
                     : t.job.state == "RUNNING" ? "running"
                     : t.job.state == "PENDING" ? "waiting"
                                                : t.job.state];
            for (const auto& [trial, begun] : t.begun)
                if (!begun.over) epochs += static_cast<std::size_t>(begun.reader.progress().epochs);
        }
    std::string text = fmt::format("{} job{}:", jobs(), jobs() == 1 ? "" : "s");
    for (const auto& [state, count] : states) text += fmt::format(" {} {},", count, state);
    text += fmt::format(" {} trials run{}", report_.run,
                        report_.failed ? fmt::format(", {} failed", report_.failed) : "");
    if (epochs) text += fmt::format(", {} epochs of running trials", epochs);
    progress_.status(text);
}

}  // namespace gnnbench
