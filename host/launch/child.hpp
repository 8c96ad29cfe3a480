#pragma once
#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "launch/environment.hpp"

namespace gnnbench {

/// A child process in its own process group, which the kernel signals when the thread that started it ends, in
/// any way. Its stdin is empty; stdout and stderr go to one file, or to two descriptors.
/// Killed, if it still runs, on destruction.
class ChildProcess {
public:
    /// Throws EnvironmentError where the program cannot be started or the file cannot be written. It is bound to `cpus`,
    /// and so are its own children; empty: to those of this process.
    ChildProcess(const std::vector<std::string>& command, const Environment& environment,
                 const std::string& output_file, int signal_on_our_death = SIGKILL,
                 std::span<const int> cpus = {});
    /// The same with open descriptors for stdout and stderr, which the caller keeps.
    ChildProcess(const std::vector<std::string>& command, const Environment& environment, int output, int errors);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    pid_t pid() const { return pid_; }
    /// Waits up to `seconds`, less if a signal arrives. The wait status (see waitpid) once it has ended.
    std::optional<int> wait(double seconds);
    void signal_group(int signal) const;

private:
    void start(const std::vector<std::string>& command, const Environment& environment, int output, int errors,
               int signal_on_our_death, std::span<const int> cpus);

    pid_t pid_ = -1;
    int pidfd_ = -1;  ///< −1 where the kernel has none
    std::optional<int> status_;
};

/// An anonymous file in memory, which vanishes with its last user. Programs get its descriptor or its path.
class MemoryFile {
public:
    explicit MemoryFile(const char* name);
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile();
    int descriptor() const { return descriptor_; }
    /// While this process lives, for processes of the same user.
    std::string path() const;
    void write(std::string_view text);
    std::string text() const;  ///< all of it, from the beginning

private:
    int descriptor_;
};

/// Runs a short program to its end; its exit code, or 128 + signal. Throws EnvironmentError if it does not start or end
/// in time.
int run_to_end(const std::vector<std::string>& command, const Environment& environment, double limit_s, int output,
               int errors);

struct ProgramOutput {
    int exit_code = 0;  ///< 128 + signal if it was killed
    std::string text;   ///< what it printed
};
/// Runs a short program to its end. Throws EnvironmentError if it does not start or end in time.
ProgramOutput run_program(const std::vector<std::string>& command, const Environment& environment, double limit_s);

}  // namespace gnnbench
