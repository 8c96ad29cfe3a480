#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launch/declared_launcher.hpp"
#include "record/journal.hpp"
#include "run/trial_execution.hpp"

namespace gnnbench {

/// The task of one job (or array element): trials, one after another.
struct JobTask {
    struct Trial {
        std::size_t cell = 0;  ///< index into `cells`
        Purpose purpose = Purpose::measure;
        std::int64_t number = 0;
        double timeout_s = 3600;
        std::string export_folder{}, reference{};
        std::vector<std::int64_t> trace_epochs{};
        bool asks_partitioner = true;    ///< see TrialRequest
        double late_step_timeout_s = 0;  ///< see TrialOrder
    };
    std::string experiment;
    nlohmann::json source;  ///< see source_of
    nlohmann::json machine;
    std::filesystem::path database, journal;
    int retries = 0;
    nlohmann::json launcher;  ///< its file's content
    LauncherSettings settings;
    ClusterNodes nodes;
    std::vector<PreparedCell> cells;
    std::vector<Trial> trials;

    TrialOrder order(const Trial& trial) const;
    /// Time limit of all its trials together.
    double time_s() const;
};

/// Jobs submitted together, as one array or each by itself.
struct JobBatch {
    std::string name;  ///< the scheduler's name for it
    std::string job;   ///< the scheduler's id; empty: perhaps not submitted
    bool array = false;
    std::size_t first = 0, tasks = 1;  ///< numbers of its tasks; in an array, elements count from the first
};

/// A submission on disk, `<database>.jobs/<id>`: scripts, tasks, logs, and the jobs submitted for them. Its holder has
/// an exclusive lock on it; the folder outlives its holder.
class JobFolder {
public:
    /// Creates a new one. Throws EnvironmentError if that fails.
    static JobFolder create(const std::filesystem::path& database);
    /// The unfinished submissions of a database that no other process holds.
    static std::vector<JobFolder> left(const std::filesystem::path& database);

    const std::string& id() const { return id_; }
    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path script(std::size_t batch) const;
    std::filesystem::path log(std::size_t batch, const std::string& element) const;
    std::filesystem::path journal(const std::filesystem::path& database, std::size_t task) const;

    void write_task(std::size_t number, const JobTask& task) const;
    /// `launcher`: the file's content of the launcher that submits them.
    void write_batches(const std::vector<JobBatch>& batches, const nlohmann::json& launcher) const;
    std::vector<JobBatch> batches() const;
    /// The launcher of these; null where they were never written.
    nlohmann::json launcher() const;
    /// Keeps scripts and logs for inspection, but marks the submission as finished.
    void close() const;
    void remove() const;

private:
    JobFolder(std::filesystem::path path, FileDescriptor lock);
    std::filesystem::path path_;
    std::string id_;
    FileDescriptor lock_;
};

/// Throws EnvironmentError if the task no longer exists.
JobTask read_task(const std::filesystem::path& folder, std::size_t number);

}  // namespace gnnbench
