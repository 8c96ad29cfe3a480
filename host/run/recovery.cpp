#include "run/recovery.hpp"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "core/plural.hpp"
#include "launch/trial_processes.hpp"
#include "record/journal.hpp"
#include "record/query.hpp"
#include "record/replay.hpp"

namespace gnnbench {

namespace {

/// Removes folders of trials whose host was killed; another process may already have replayed its journal.
void remove_left_folders(const Database& database) {
    std::error_code ignored;
    std::vector<std::filesystem::path> left;
    for (const auto& entry : std::filesystem::directory_iterator(journal_folder(database.path()), ignored)) {
        // A journal without its final name, which no process holds: its host was killed while creating it. A recent one
        // may not be locked yet.
        const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(ignored);
        if (entry.path().filename().string().ends_with(".jsonl.new") && age > std::chrono::hours(1) &&
            DeadJournal(entry.path()).state() == DeadJournal::State::dead)
            left.push_back(entry.path());
        if (!entry.is_directory(ignored)) continue;
        const std::vector<SqlValue> trial{entry.path().filename().string()};
        const std::string sql = "SELECT 1 FROM trial WHERE uuid = ?1 AND status <> 'running'";
        if (!query(database.path(), sql, trial).rows.empty()) left.push_back(entry.path());
    }
    for (const auto& folder : left) std::filesystem::remove_all(folder, ignored);
}

}  // namespace

void recover(Database& database, const Notify& notify) {
    const ReplayResult replayed = replay_dead_journals(database);
    for (const std::string& problem : replayed.problems) notify("damaged journal: " + problem);
    for (const std::string& trial : replayed.interrupted) clean_up_trial(trial, 2.0);
    remove_left_shared_memory();
    remove_left_folders(database);
    if (!replayed.interrupted.empty())
        notify(fmt::format("{} interrupted earlier; what it had recorded is kept, and it runs again",
                           plural(std::ssize(replayed.interrupted), "trial")));
}

}  // namespace gnnbench
