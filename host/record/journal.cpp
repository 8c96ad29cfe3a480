#include "record/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "record/journal_line.hpp"

namespace gnnbench {
namespace {

[[noreturn]] void fail(const char* doing, const std::filesystem::path& path, int error) {
    const char* advice = error == ENOSPC || error == EDQUOT ? " Free space on that disk, then run again: what is "
                                                              "recorded so far is kept."
                         : error == EACCES || error == EROFS || error == EPERM
                             ? " Choose a database in a writable folder."
                             : "";
    throw EnvironmentError(
        fmt::format("cannot {} the journal {}: {}.{}", doing, path.string(), std::strerror(error), advice));
}

FileDescriptor open_or_fail(const char* doing, const std::filesystem::path& path, int flags) {
    FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0644));
    if (file.get() < 0) fail(doing, path, errno);
    return file;
}

/// UTC with microseconds, fit for a file name.
std::string start_stamp() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    const std::time_t seconds = us / 1000000;
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%dT%H%M%S", &utc);
    return fmt::format("{}.{:06}", text, us % 1000000);
}

/// Perhaps of a line that another process is writing, which is whole when ours follows it: then an empty line is between
/// them, which readers skip.
bool ends_inside_a_line(int fd) {
    struct stat info{};
    if (::fstat(fd, &info) != 0 || info.st_size == 0) return false;
    char last = '\n';
    return ::pread(fd, &last, 1, info.st_size - 1) == 1 && last != '\n';
}

/// The line as messages show it, whatever its bytes.
std::string beginning_of(std::string_view line) {
    std::string text;
    for (const char c : line.substr(0, 60)) text += c >= ' ' && c <= '~' ? c : '?';
    return line.size() > 60 ? text + "..." : text;
}

/// Cuts off the `written` bytes of a line that did not fit, unless somebody has appended after them (readers
/// then skip the truncated line).
void truncate_partial_line(int fd, ssize_t written) {
    const off_t end = ::lseek(fd, 0, SEEK_CUR);  // after an O_APPEND write: where that write ended
    struct stat info{};
    if (end < written || ::fstat(fd, &info) != 0 || info.st_size != end) return;
    if (::ftruncate(fd, end - written) != 0) return;
}

}  // namespace

std::string host_name() {
    char name[256] = "host";
    if (::gethostname(name, sizeof name - 1) != 0) return "host";
    return name;
}

FileDescriptor::~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
}

namespace {

/// For its owner to write, whatever the umask: who can write a journal can write results.
void make_journal_folder(const std::filesystem::path& folder) {
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) fail("make the folder of", folder, errno);
}

}  // namespace

std::filesystem::path journal_folder(const std::filesystem::path& database) {
    return database.string() + ".journals";
}

void JournalWriter::append(const nlohmann::json& line) {
    std::string text = ends_inside_a_line(file_.get()) ? "\n" : "";
    text += journal_line(line);
    text += '\n';
    ssize_t written = -1;
    do written = ::write(file_.get(), text.data(), text.size());
    while (written < 0 && errno == EINTR);
    if (written < 0) fail("append to", path_, errno);
    if (usize(written) < text.size()) {
        // A short write means a full disk (or a limit on file size); writing the rest tells which.
        const ssize_t rest = ::write(file_.get(), text.data() + written, text.size() - usize(written));
        if (rest == static_cast<ssize_t>(text.size()) - written) return;
        const int error = rest < 0 ? errno : ENOSPC;
        truncate_partial_line(file_.get(), written + (rest > 0 ? rest : 0));
        fail("append to", path_, error);
    }
}

Journal Journal::create(const std::filesystem::path& database) {
    const std::filesystem::path folder = journal_folder(database);
    make_journal_folder(folder);
    const std::string name = fmt::format("{}-{}-{}.jsonl", host_name(), ::getpid(), start_stamp());
    // Locked before it gets its final name, so that no other process can take it for dead.
    const std::filesystem::path hidden = folder / ("." + name + ".new");
    FileDescriptor file = open_or_fail("create", hidden, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
    if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) fail("lock", hidden, errno);
    if (::rename(hidden.c_str(), (folder / name).c_str()) != 0) fail("name", folder / name, errno);
    return Journal(std::move(file), folder / name);
}

void Journal::remove() {
    if (::unlink(path_.c_str()) != 0 && errno != ENOENT) fail("remove", path_, errno);
}

WorkerJournal::WorkerJournal(const std::filesystem::path& path)
    : JournalWriter(open_or_fail("open", path, O_RDWR | O_APPEND), path) {
    if (::flock(file_.get(), LOCK_SH | LOCK_NB) != 0)
        throw EnvironmentError(
            fmt::format("the journal {} is being replayed by another gnnbench, because the process that created "
                        "it ended; this "
                        "worker stops.",
                        path.string()));
}

JournalTail::JournalTail(std::filesystem::path path)
    : path_(std::move(path)), file_(open_or_fail("read", path_, O_RDONLY)) {}

std::vector<nlohmann::json> JournalTail::poll(std::size_t max_bytes) {
    std::vector<nlohmann::json> lines;
    std::string chunk(std::min(max_bytes, std::size_t{1} << 16), '\0');
    for (std::size_t total = 0; total < max_bytes || lines.empty();) {
        const ssize_t got = ::read(file_.get(), chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("read", path_, errno);
        if (got == 0) break;
        total += usize(got);
        std::string_view rest(chunk.data(), usize(got));
        for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
            partial_ += rest.substr(0, end);
            ++number_;
            if (!partial_.empty()) {
                ReadLine line = read_journal_line(partial_);
                if (line.object)
                    lines.push_back(std::move(*line.object));
                else if (++damaged_ == 1)
                    first_damage_ =
                        fmt::format("line {} is damaged, {}: {}", number_, line.damage, beginning_of(partial_));
            }
            partial_.clear();
        }
        partial_ += rest;
    }
    return lines;
}

std::filesystem::path create_job_journal(const std::filesystem::path& database, const std::string& name) {
    const std::filesystem::path folder = journal_folder(database);
    make_journal_folder(folder);
    const std::filesystem::path path = folder / (name + ".job.jsonl");
    open_or_fail("create", path, O_WRONLY | O_CREAT | O_EXCL);
    return path;
}

bool is_job_journal(const std::filesystem::path& path) { return path.filename().string().ends_with(".job.jsonl"); }

DeadJournal::DeadJournal(std::filesystem::path path, bool job_ended)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CLOEXEC)) {
    if (file_.get() < 0) {
        if (errno != ENOENT) fail("open", path_, errno);
        return;
    }
    if (is_job_journal(path_) && !job_ended) {
        state_ = State::alive;
        return;
    }
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) fail("lock", path_, errno);
        state_ = State::alive;
        return;
    }
    struct stat info{};
    if (::fstat(file_.get(), &info) != 0) fail("look at", path_, errno);
    state_ = info.st_nlink == 0 ? State::gone : State::dead;
}

}  // namespace gnnbench
