#include "launch/child.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

cpu_set_t set_of(std::span<const int> cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) CPU_SET(usize(cpu), &set);
    return set;
}

/// What a child becomes.
struct Program {
    char* const* argv;
    char* const* envp;
    int output, errors;  ///< `errors` may be our own stderr, `output` never is
    int signal_on_our_death;
    const cpu_set_t* cpus;  ///< nullptr: this process's
};

/// Runs between fork and exec: only async-signal-safe calls. Writes errno to `report` on failure.
[[noreturn]] void become(const Program& program, int report, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, program.signal_on_our_death);
    if (getppid() != parent) _exit(127);
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int empty = open("/dev/null", O_RDONLY);
    dup2(empty, STDIN_FILENO);
    dup2(program.errors, STDERR_FILENO);
    dup2(program.output, STDOUT_FILENO);
    // Above all the journal: its lock must end with this process.
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (!program.cpus || sched_setaffinity(0, sizeof *program.cpus, program.cpus) == 0)
        execve(program.argv[0], program.argv, program.envp);
    const int cause = errno;
    [[maybe_unused]] const ssize_t written = write(report, &cause, sizeof cause);
    _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Environment& environment,
                           const std::string& output_file, int signal_on_our_death, std::span<const int> cpus) {
    const int output = open(output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (output < 0)
        throw EnvironmentError("cannot write '" + output_file + "', the log of '" + command.front() +
                               "': " + std::strerror(errno));
    try {
        start(command, environment, output, output, signal_on_our_death, cpus);
    } catch (...) {
        close(output);
        throw;
    }
    close(output);
}

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Environment& environment, int output,
                           int errors) {
    start(command, environment, output, errors, SIGKILL, {});
}

void ChildProcess::start(const std::vector<std::string>& command, const Environment& environment, int output,
                         int errors, int signal_on_our_death, std::span<const int> cpus) {
    int report[2] = {-1, -1};
    if (pipe2(report, O_CLOEXEC) != 0)
        throw EnvironmentError(std::string("cannot create a pipe to start a trial: ") + std::strerror(errno));
    const std::vector<char*> argv = pointers(command), envp = pointers(environment);
    const cpu_set_t bound = set_of(cpus);
    const Program program{argv.data(), envp.data(),         output,
                          errors,      signal_on_our_death, cpus.empty() ? nullptr : &bound};
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) become(program, report[1], parent);
    const int fork_error = errno;
    close(report[1]);
    int cause = 0;
    const bool failed = pid_ > 0 && read(report[0], &cause, sizeof cause) == sizeof cause;
    close(report[0]);
    if (failed) waitpid(pid_, nullptr, 0);
    if (failed || pid_ < 0)
        throw EnvironmentError("cannot start '" + command.front() +
                               "': " + std::strerror(failed ? cause : fork_error));
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

ChildProcess::~ChildProcess() {
    if (!status_) {
        signal_group(SIGKILL);
        while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    if (pidfd_ >= 0) close(pidfd_);
}

std::optional<int> ChildProcess::wait(double seconds) {
    if (status_) return status_;
    const int timeout_ms = static_cast<int>(seconds * 1e3);
    pollfd end{pidfd_, POLLIN, 0};
    // Without a pidfd this is only a sleep, kept short.
    poll(&end, pidfd_ >= 0 ? 1 : 0, pidfd_ >= 0 ? timeout_ms : std::min(timeout_ms, 20));
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_;
}

void ChildProcess::signal_group(int signal) const { kill(-pid_, signal); }

MemoryFile::MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0)
        throw EnvironmentError(std::string("cannot create a file in memory: ") + std::strerror(errno));
}

MemoryFile::~MemoryFile() { close(descriptor_); }

std::string MemoryFile::path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_);
}

void MemoryFile::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0)
            throw EnvironmentError(std::string("cannot write a file in memory: ") + std::strerror(errno));
        text.remove_prefix(usize(written));
    }
}

std::string MemoryFile::text() const {
    std::string all;
    char piece[16384];
    for (ssize_t got = 0; (got = pread(descriptor_, piece, sizeof piece, static_cast<off_t>(all.size()))) > 0;)
        all.append(piece, usize(got));
    return all;
}

int run_to_end(const std::vector<std::string>& command, const Environment& environment, double limit_s, int output,
               int errors) {
    ChildProcess child(command, environment, output, errors);
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
    std::optional<int> status;
    while (!(status = child.wait(0.1)))
        if (Clock::now() > deadline)
            throw EnvironmentError("'" + command.front() + "' did not end within " +
                                   std::to_string(static_cast<int>(limit_s)) + " s");
    return WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
}

ProgramOutput run_program(const std::vector<std::string>& command, const Environment& environment,
                          double limit_s) {
    // In memory, so that nothing is left behind however this process ends.
    const MemoryFile output("gnnbench-output");
    const int code = run_to_end(command, environment, limit_s, output.descriptor(), output.descriptor());
    return {code, output.text()};
}

}  // namespace gnnbench
