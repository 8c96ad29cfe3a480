#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// A file descriptor that closes itself.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& o) noexcept {
        std::swap(fd_, o.fd_);
        return *this;
    }
    ~FileDescriptor();
    int get() const { return fd_; }

private:
    int fd_ = -1;
};

/// This host, as journals and claims name it; "host" where the system does not say.
std::string host_name();

/// `<database>.journals`
std::filesystem::path journal_folder(const std::filesystem::path& database);

/// The append side shared by host and worker: one line, one write(2) on a descriptor opened O_APPEND.
/// Holds a shared lock (flock) as long as it lives: a journal that no process locks is dead.
class JournalWriter {
public:
    /// Throws EnvironmentError naming path and cause (full disk), after removing the partly written line.
    /// After a line that a killed process left incomplete, the next one starts on a new line.
    void append(const nlohmann::json& line);
    const std::filesystem::path& path() const { return path_; }

protected:
    JournalWriter(FileDescriptor file, std::filesystem::path path)
        : file_(std::move(file)), path_(std::move(path)) {}
    FileDescriptor file_;
    std::filesystem::path path_;
};

/// A host process's journal: `<database>.journals/<host>-<pid>-<start>.jsonl`.
class Journal : public JournalWriter {
public:
    static Journal create(const std::filesystem::path& database);
    /// The file's name; claims are kept under it.
    std::string name() const { return path_.filename().string(); }
    /// Removes the file. To be called once every line of it is in the database.
    void remove();

private:
    using JournalWriter::JournalWriter;
};

/// A worker's side: appends to a journal that its host made. While a worker of a dead host still runs, its
/// lock keeps the journal from counting as dead.
class WorkerJournal : public JournalWriter {
public:
    explicit WorkerJournal(const std::filesystem::path& path);
};

/// The journal of a job that a batch system runs later, elsewhere: `<database>.journals/<name>.job.jsonl`, empty. It
/// counts as alive until collect_journal (replay.hpp), whether or not a process holds it.
std::filesystem::path create_job_journal(const std::filesystem::path& database, const std::string& name);
bool is_job_journal(const std::filesystem::path& path);

/// Reads what was appended since the last call. Only complete lines count.
class JournalTail {
public:
    explicit JournalTail(std::filesystem::path path);
    /// New lines, at most about `max_bytes` of them; empty if there are none. Complete lines that are not JSON
    /// objects, nested deeper than any of ours, or not what their checksum says, are left out and recorded.
    std::vector<nlohmann::json> poll(std::size_t max_bytes = std::size_t{8} << 20);
    std::int64_t damaged_lines() const { return damaged_; }
    /// The first damaged line, by its number and beginning; empty: none.
    const std::string& first_damage() const { return first_damage_; }
    /// The bytes after the last complete line: none, or a line truncated by a kill, which was never acknowledged.
    const std::string& rest() const { return partial_; }

private:
    std::filesystem::path path_;
    FileDescriptor file_;
    std::string partial_, first_damage_;
    std::int64_t damaged_ = 0, number_ = 0;
};

/// A journal that this process holds exclusively; `alive` if another process holds it,
/// `gone` if it was removed meanwhile.
class DeadJournal {
public:
    enum class State { dead, alive, gone };
    /// `job_ended`: the caller knows that the journal's job has ended.
    explicit DeadJournal(std::filesystem::path path, bool job_ended = false);
    State state() const { return state_; }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    FileDescriptor file_;
    State state_ = State::gone;
};

}  // namespace gnnbench
