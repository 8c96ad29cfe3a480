#include "launch/trial_processes.hpp"

#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>

#include <unistd.h>

#include "core/owned_folder.hpp"
#include "launch/environment.hpp"
#include "launch/shared_folder.hpp"

namespace gnnbench {

namespace {

std::string file_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether the process's initial environment has the variable; /proc separates variables by '\0'.
bool has_variable(pid_t pid, std::string_view variable) {
    const std::string environment = '\0' + file_text("/proc/" + std::to_string(pid) + "/environ");
    return environment.find('\0' + std::string(variable) + '\0') != std::string::npos;
}

constexpr const char* memory_files = "/dev/shm";

constexpr std::string_view folder_prefix = "gnnbench-";

}  // namespace

void remove_left_shared_memory() {
    for (const std::filesystem::path& folder : abandoned_folders(memory_files))
        clean_up_trial(folder.filename().string().substr(folder_prefix.size()), 2.0);
}

std::vector<std::filesystem::path> shared_folders_of(const std::string& trial) {
    std::vector<std::filesystem::path> all;
    for (const std::filesystem::path& place : places_for_shared_files({}))
        all.push_back(place / (std::string(folder_prefix) + trial));
    return all;
}

std::vector<pid_t> processes_of_trial(const std::string& trial) {
    const std::string variable = std::string(trial_token) + '=' + trial;
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename();
        pid_t pid = 0;
        const auto end = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (end.ptr != name.data() + name.size() || pid == getpid()) continue;
        if (has_variable(pid, variable)) found.push_back(pid);
    }
    return found;
}

std::vector<pid_t> kill_trial(const std::string& trial, double limit_s) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
    for (;;) {
        const std::vector<pid_t> left = processes_of_trial(trial);
        if (left.empty() || Clock::now() > deadline) return left;
        for (pid_t pid : left) kill(pid, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

void clean_up_trial(const std::string& trial, double limit_s) {
    kill_trial(trial, limit_s);
    std::error_code ignored;
    for (const std::filesystem::path& folder : shared_folders_of(trial))
        std::filesystem::remove_all(folder, ignored);
}

}  // namespace gnnbench
