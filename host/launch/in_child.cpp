#include "launch/in_child.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "launch/interrupt.hpp"

namespace gnnbench {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// The child's side: writes the result to `out`, and exits without running exit handlers.
[[noreturn]] void look_and_say(const std::function<std::string()>& look, int out, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::setpgid(0, 0);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
    try {
        const std::string said = look();
        for (std::size_t at = 0; at < said.size();) {
            const ssize_t written = ::write(out, said.data() + at, said.size() - at);
            if (written < 0 && errno != EINTR) break;
            at += written < 0 ? 0 : usize(written);
        }
        ::_exit(0);
    } catch (...) {
        ::_exit(1);
    }
}

/// Reads to the end, or until the deadline; false if that came first.
bool read_until(int in, std::chrono::steady_clock::time_point deadline, std::string& text) {
    char piece[4096];
    while (text.size() < most_bytes) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd ready{in, POLLIN, 0};
        const int found = left.count() <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left.count()));
        if (found == 0 || InterruptGuard::requested()) return false;
        const ssize_t got = found < 0 ? -1 : ::read(in, piece, sizeof piece);
        if (got == 0) return true;
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) text.append(piece, usize(got));
    }
    return false;
}

}  // namespace

ChildResult call_in_child(const std::function<std::string()>& look, double limit_s) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0)
        throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    const pid_t parent = ::getpid(), child = ::fork();
    if (child == 0) look_and_say(look, pipe[1], parent);
    const int cause = errno;
    ::close(pipe[1]);
    if (child < 0) {
        ::close(pipe[0]);
        throw EnvironmentError(fmt::format("cannot create a process: {}", std::strerror(cause)));
    }
    const auto limit =
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(limit_s));
    ChildResult result;
    const bool in_time = read_until(pipe[0], std::chrono::steady_clock::now() + limit, result.said);
    ::close(pipe[0]);
    if (!in_time) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ::kill(-child, SIGKILL);  // what it may have started
    if (!in_time)
        result.failure = fmt::format("did not end within {:g} s", limit_s);
    else if (WIFSIGNALED(status))
        result.failure =
            fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0 || result.said.empty())
        result.failure = fmt::format("ended the process with code {}", WEXITSTATUS(status));
    return result;
}

}  // namespace gnnbench
