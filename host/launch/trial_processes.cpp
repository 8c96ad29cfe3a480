#include "launch/trial_processes.hpp"

#include <charconv>
#include <chrono>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/environment.hpp"

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

constexpr const char* shared_memory = "/dev/shm";

constexpr std::string_view folder_prefix = "gnnbench-";
constexpr const char* owner_file = "/owner";
/// A folder without an owner's file is being created, unless it is old.
constexpr auto being_made = std::chrono::minutes(10);

/// Whether no process holds the lock of the folder's owner.
bool is_abandoned(const std::filesystem::directory_entry& folder) {
    struct stat info{};
    if (::lstat(folder.path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid())
        return false;
    const int owner = ::open((folder.path().string() + owner_file).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (owner < 0) {
        const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(info.st_mtime);
        return errno == ENOENT && age > being_made;
    }
    const bool left = ::flock(owner, LOCK_EX | LOCK_NB) == 0;
    ::close(owner);
    return left;
}

}  // namespace

int own_shared_memory(const std::string& folder) {
    const int owner = ::open((folder + owner_file).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (owner >= 0) ::flock(owner, LOCK_EX | LOCK_NB);
    return owner;
}

void remove_left_shared_memory() {
    std::vector<std::string> left;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(shared_memory, ignored)) {
        const std::string name = entry.path().filename();
        if (name.starts_with(folder_prefix) && is_abandoned(entry))
            left.push_back(name.substr(folder_prefix.size()));
    }
    for (const std::string& trial : left) clean_up_trial(trial, 2.0);
}

std::string shared_memory_folder(const std::string& trial) {
    return access(shared_memory, W_OK) == 0 ? std::string(shared_memory) + "/gnnbench-" + trial : "";
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
    if (const std::string folder = shared_memory_folder(trial); !folder.empty())
        std::filesystem::remove_all(folder, ignored);
}

}  // namespace gnnbench
