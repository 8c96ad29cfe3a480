#include "record/replay.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/apply.hpp"
#include "record/journal.hpp"
#include "record/journal_line.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

/// Trials of one journal with an outcome, and those that it started without recording one.
void follow(std::set<std::string>& open, std::set<std::string>& over, const nlohmann::json& line) {
    const auto type = line.find("type"), trial = line.find("trial");
    if (type == line.end() || trial == line.end() || !trial->is_string()) return;
    if (*type == "trial") open.insert(trial->get<std::string>());
    if (*type != "outcome") return;
    open.erase(trial->get<std::string>());
    over.insert(trial->get<std::string>());
}

/// A successful measurement has all its epochs, or, if it stopped early, all up to its last one, which an evaluation
/// follows. If its journal lost some, it is not a valid sample. Independent workers never stop early.
void refuse_incomplete(Database& database, const std::set<std::string>& trials) {
    sqlite::Connection& c = database.connection();
    sqlite::Transaction transaction(c);
    auto judge = c.prepare(
        "WITH recorded AS (SELECT t.id, c.epochs + c.warmup AS planned, "
        "max(coalesce((SELECT max(epoch) FROM epoch WHERE trial_id = t.id), -1), "
        "coalesce((SELECT max(epoch) FROM evaluation WHERE trial_id = t.id), -1)) AS last_epoch, "
        "coalesce(c.identity ->> '$.train.patience', 0) > 0 "
        "AND NOT EXISTS (SELECT 1 FROM worker_epoch WHERE trial_id = t.id) AS may_stop, "
        "(SELECT count(*) FROM epoch e WHERE e.trial_id = t.id AND e.epoch < c.epochs + c.warmup) AS epochs "
        "FROM trial t JOIN cell c ON c.id = t.cell_id WHERE t.uuid = ?1), "
        "found AS (SELECT id, epochs, iif(may_stop AND EXISTS (SELECT 1 FROM evaluation v "
        "WHERE v.trial_id = recorded.id AND v.epoch = last_epoch), min(last_epoch + 1, planned), planned) "
        "AS expected FROM recorded) "
        "UPDATE trial SET status = 'failed', reason = found.epochs || ' of its ' || found.expected || "
        "' epochs are recorded: its journal lost the others' FROM found "
        "WHERE trial.id = found.id AND status = 'ok' AND purpose = 'measure' AND found.epochs < found.expected",
        "check a trial's epochs");
    for (const std::string& trial : trials) judge.run(trial);
    transaction.commit();
}

/// Only those that still count as running: an outcome may be in the database already.
std::vector<std::string> interrupt(Database& database, const std::set<std::string>& open) {
    std::vector<std::string> interrupted;
    sqlite::Connection& c = database.connection();
    sqlite::Transaction transaction(c);
    auto update = c.prepare(
        "UPDATE trial SET status = 'interrupted', ended = ?, reason = 'the gnnbench that ran it ended "
        "before the trial did' WHERE uuid = ? AND status = 'running' RETURNING id",
        "mark a trial as interrupted");
    for (const std::string& trial : open) {
        update.bind(utc_now(), trial);
        if (!update.step()) continue;
        const std::int64_t id = update.integer(0);
        while (update.step()) {
        }
        summarise_trial(c, id);
        interrupted.push_back(trial);
    }
    transaction.commit();
    return interrupted;
}

}  // namespace

namespace {

/// A kill leaves the beginning of a line: of one JSON object without control characters. gnnbench writes nothing else.
/// What goes on behind a whole line was one with another end.
bool is_torn_line(const std::string& rest) {
    if (!rest.empty() && is_checked_line(std::string_view(rest).substr(0, rest.size() - 1))) return false;
    return rest.empty() || (rest.front() == '{' && std::none_of(rest.begin(), rest.end(), [](char c) {
                                return static_cast<unsigned char>(c) < ' ';
                            }));
}

/// Handles trials without outcome; returns those that count as interrupted.
using Close = std::function<std::vector<std::string>(const std::set<std::string>& open)>;

/// `journal` is dead, and its lock is held throughout, so that no other process replays it concurrently.
ReplayResult replay(Database& database, const DeadJournal& journal, const Close& close) {
    const std::filesystem::path& path = journal.path();
    ReplayResult result;
    JournalTail tail(path);
    std::set<std::string> open, over;
    for (auto lines = tail.poll(); !lines.empty(); lines = tail.poll()) {
        for (const auto& line : lines) follow(open, over, line);
        ApplyResult applied = database.apply(lines);
        result.lines += applied.lines;
        std::move(applied.problems.begin(), applied.problems.end(), std::back_inserter(result.problems));
    }
    refuse_incomplete(database, over);
    result.interrupted = close(open);
    if (tail.damaged_lines() > 0)
        result.problems.push_back(
            tail.damaged_lines() == 1
                ? tail.first_damage()
                : fmt::format("{} lines are damaged; {}", tail.damaged_lines(), tail.first_damage()));
    if (!is_torn_line(tail.rest()))
        result.problems.emplace_back("the end of the file is not part of a journal line");
    if (!result.problems.empty())
        result.problems.back() += fmt::format(" (kept as {}.damaged)", path.filename().string());
    database.connection()
        .prepare("DELETE FROM claim WHERE journal = ?", "release a dead process's claims")
        .run(path.filename().string());
    result.journals = 1;
    std::error_code error;
    if (result.problems.empty())
        std::filesystem::remove(path, error);
    else
        std::filesystem::rename(path, path.string() + ".damaged", error);
    if (error)
        throw EnvironmentError(fmt::format("cannot remove the journal {}, whose lines are in the database: {}.",
                                           path.string(), error.message()));
    return result;
}

}  // namespace

ReplayResult replay_journal(Database& database, const std::filesystem::path& path) {
    const DeadJournal journal(path);
    if (journal.state() != DeadJournal::State::dead) return {};
    return replay(database, journal, [&](const auto& open) { return interrupt(database, open); });
}

ReplayResult collect_journal(Database& database, const std::filesystem::path& path, const OpenTrialEnd& end_of) {
    const DeadJournal journal(path, true);
    if (journal.state() != DeadJournal::State::dead) return {};
    return replay(database, journal, [&](const std::set<std::string>& open) {
        std::vector<std::string> interrupted;
        for (const std::string& trial : open) {
            const TrialOutcome outcome = end_of(trial);
            const std::vector<nlohmann::json> line{outcome_line(outcome)};
            database.apply(line);
            if (outcome.status == TrialStatus::interrupted) interrupted.push_back(trial);
        }
        return interrupted;
    });
}

ReplayResult replay_dead_journals(Database& database) {
    std::vector<std::filesystem::path> found;
    std::error_code error;  // no folder: no journals
    for (const auto& entry : std::filesystem::directory_iterator(journal_folder(database.path()), error)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".jsonl") && !is_job_journal(name) && name.front() != '.')
            found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    ReplayResult all;
    for (const auto& path : found) {
        ReplayResult one = replay_journal(database, path);
        all.journals += one.journals;
        all.lines += one.lines;
        std::move(one.interrupted.begin(), one.interrupted.end(), std::back_inserter(all.interrupted));
        for (const std::string& p : one.problems) all.problems.push_back(path.filename().string() + ": " + p);
    }
    return all;
}

}  // namespace gnnbench
