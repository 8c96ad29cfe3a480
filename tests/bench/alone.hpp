#pragma once
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gnnbench/error.hpp>

/// Work of one rank in a process of its own, whose memory begins with it.
namespace gnnbench::bench {

/// Of a line of /proc/self/status; 0: there is none.
inline std::int64_t status_bytes(const std::string& line_name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(line_name + ":")) return std::stoll(line.substr(line_name.size() + 1)) * 1024;
    return 0;
}

/// This process' resident memory, and its peak from now on.
class MemoryWatch {
public:
    MemoryWatch() : idle_(status_bytes("VmRSS")) { std::ofstream("/proc/self/clear_refs") << "5"; }
    std::int64_t peak_bytes() const { return status_bytes("VmHWM") - idle_; }

private:
    std::int64_t idle_;
};

/// What work(found) leaves in a plain T. Throws Error with the text of what it throws.
template <class T>
T in_a_process(auto&& work) {
    struct Outcome {
        T found;
        char error[200];
    };
    auto* shared = static_cast<Outcome*>(
        mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (shared == MAP_FAILED) throw EnvironmentError("there is no memory to share with a process");
    const pid_t child = fork();
    if (child == 0) {
        new (shared) Outcome{};
        try {
            work(shared->found);
        } catch (const std::exception& e) {
            std::snprintf(shared->error, sizeof shared->error, "%s", e.what());
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const Outcome outcome = *shared;
    munmap(shared, sizeof(Outcome));
    if (status != 0) throw Error("a process that worked alone ended with status " + std::to_string(status));
    if (outcome.error[0] != 0) throw Error(outcome.error);
    return outcome.found;
}

}  // namespace gnnbench::bench
