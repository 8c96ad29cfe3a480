#include "launch/program.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "launch/child.hpp"

namespace gnnbench {

namespace {

bool is_program(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

struct Descriptor {
    int fd = -1;
    ~Descriptor() { close_now(); }
    void close_now() {
        if (fd >= 0) close(fd);
        fd = -1;
    }
};

/// The reading end of what a program prints: whole lines, and in the end what is left.
class LineReader {
public:
    explicit LineReader(int fd) : fd_(fd) {}

    /// Waits up to `wait_ms` for more. False at the end of the output, or if `take` returned false (then `enough`).
    bool read_some(int wait_ms, const std::function<bool(std::string_view)>& take) {
        pollfd ready{fd_, POLLIN, 0};
        if (poll(&ready, 1, wait_ms) <= 0) return true;  // nothing yet, or a signal
        char buffer[1 << 16];
        const ssize_t got = read(fd_, buffer, sizeof buffer);
        if (got < 0) return errno == EINTR || errno == EAGAIN;
        if (got == 0) {
            if (!partial_.empty()) enough = !take(partial_);
            return false;
        }
        partial_.append(buffer, usize(got));
        for (std::size_t end; !enough && (end = partial_.find('\n')) != std::string::npos;) {
            enough = !take(std::string_view(partial_).substr(0, end));
            partial_.erase(0, end + 1);
        }
        return !enough;
    }

    bool enough = false;

private:
    int fd_;
    std::string partial_;
};

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return is_program(name) ? std::optional(name) : std::nullopt;
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (std::string candidate = folder + '/' + name; is_program(candidate)) return candidate;
    return std::nullopt;
}

Environment unranked_environment() {
    Environment environment;
    for (const std::string& variable : current_environment())
        if (!marks_a_rank(variable.substr(0, variable.find('=')))) environment.push_back(variable);
    add_home(environment);
    return environment;
}

ProgramEnd read_lines(const std::vector<std::string>& command, const Environment& environment,
                      const std::function<bool(std::string_view line)>& take, double limit_s,
                      const std::string& errors_file) {
    using Clock = std::chrono::steady_clock;
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw EnvironmentError(std::string("cannot create a pipe to start a program: ") + std::strerror(errno));
    Descriptor reading{ends[0]}, writing{ends[1]};
    Descriptor errors{
        errors_file.empty() ? -1 : open(errors_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    ChildProcess child(command, environment, writing.fd, errors.fd >= 0 ? errors.fd : STDERR_FILENO);
    writing.close_now();

    ProgramEnd end;
    LineReader reader(reading.fd);
    const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
    const auto late = [&] { return limit_s > 0 && Clock::now() > deadline; };
    while (reader.read_some(200, take) && !(end.timed_out = late())) {
    }
    std::optional<int> status;
    end.stopped = reader.enough || end.timed_out;
    if (end.stopped) child.signal_group(SIGKILL);
    while (!(status = child.wait(0.2)))
        if (late() && !end.stopped) {
            end.stopped = end.timed_out = true;
            child.signal_group(SIGKILL);
        }
    end.exit_code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 0;
    end.signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
    return end;
}

}  // namespace gnnbench
