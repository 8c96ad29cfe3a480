#include "program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::command {
namespace {

/// Variables that would make a program with MPI take itself for one of the trial's ranks.
bool marks_a_rank(std::string_view variable) {
    constexpr std::array prefixes = {"OMPI_", "PMIX_",  "PMI_",      "PRTE_",     "ORTE_",
                                     "HYDI_", "HYDRA_", "MPI_LOCAL", "MPIR_CVAR_"};
    return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

class Spawn {
public:
    Spawn(const std::vector<std::string>& words, const std::filesystem::path& folder) {
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&files);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
        posix_spawn_file_actions_addclosefrom_np(&files, 3);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        std::vector<char*> argv, variables;
        for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        for (char** variable = environ; *variable; ++variable)
            if (!marks_a_rank(*variable)) variables.push_back(*variable);
        variables.push_back(nullptr);
        error_ = posix_spawn(&pid_, argv[0], &files, &attributes, argv.data(), variables.data());
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
        if (error_ == 0) pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    }
    Spawn(const Spawn&) = delete;
    ~Spawn() {
        if (pidfd_ >= 0) close(pidfd_);
    }

    int error() const { return error_; }
    /// Whether it ended within that time.
    bool ended(double seconds) const {
        using Clock = std::chrono::steady_clock;
        const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
        for (;;) {
            const double left_s = std::chrono::duration<double>(deadline - Clock::now()).count();
            if (left_s <= 0) return false;
            pollfd end{pidfd_, POLLIN, 0};
            if (poll(&end, 1, static_cast<int>(std::min(left_s, 60.0) * 1e3) + 1) > 0) return true;
        }
    }
    void end() const { kill(pid_, SIGKILL); }
    /// Its wait status.
    int wait() const {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        return status;
    }

private:
    pid_t pid_ = 0;
    int pidfd_ = -1, error_ = 0;
};

}  // namespace

std::string last_lines(const std::filesystem::path& folder) {
    constexpr std::streamoff most = 600;
    std::ifstream log(folder / "log", std::ios::binary | std::ios::ate);
    const std::streamoff size = log ? static_cast<std::streamoff>(log.tellg()) : 0;
    if (size <= 0) return {};
    log.seekg(std::max<std::streamoff>(0, size - most));
    std::string text(usize(std::min(size, most)), '\0');
    log.read(text.data(), std::ssize(text));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.empty() ? "" : ". It printed:\n" + text;
}

void run_program(const std::vector<std::string>& words, const std::filesystem::path& folder, double limit_s) {
    const Spawn program(words, folder);
    const std::string& name = words.front();
    if (program.error() != 0)
        throw Error(fmt::format("cannot start {}: {}", name, std::strerror(program.error())));
    const bool in_time = program.ended(limit_s);
    if (!in_time) program.end();
    const int status = program.wait();
    if (!in_time)
        throw Error(fmt::format("{} did not end within {:g} s, its limit_s{}", name, limit_s, last_lines(folder)));
    if (WIFSIGNALED(status))
        throw Error(fmt::format("{} was ended by signal {} ({}){}", name, WTERMSIG(status),
                                strsignal(WTERMSIG(status)), last_lines(folder)));
    if (WEXITSTATUS(status) != 0)
        throw Error(fmt::format("{} ended with exit code {}{}", name, WEXITSTATUS(status), last_lines(folder)));
}

}  // namespace gnnbench::command
