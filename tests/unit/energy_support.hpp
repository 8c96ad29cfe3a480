#pragma once
/// A powercap tree in a folder, and a process that may give up its rights.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gnnbench/temporary_folder.hpp>

namespace gnnbench::energy_tests {

namespace fs = std::filesystem;

/// As the kernel lays it out: a zone is a folder in the zone that contains it.
class FakePowercap {
public:
    FakePowercap() : folder_("powercap") { fs::permissions(folder_.path(), fs::perms::all); }
    const fs::path& path() const { return folder_.path(); }
    /// `zone`: "intel-rapl:0/intel-rapl:0:1".
    void add(const std::string& zone, const std::string& name, std::uint64_t energy_uj,
             std::uint64_t range_uj = 262143328850) {
        fs::create_directories(path() / zone);
        std::ofstream(path() / zone / "name") << name << '\n';
        std::ofstream(path() / zone / "max_energy_range_uj") << range_uj << '\n';
        count(zone, energy_uj);
    }
    void count(const std::string& zone, std::uint64_t energy_uj) {
        std::ofstream(path() / "next") << energy_uj << '\n';
        fs::rename(path() / "next", path() / zone / "energy_uj");  // nobody reads half a number
    }

private:
    TemporaryFolder folder_;
};

/// Runs `body` in a process of its own, which may give up its rights; its exit code.
inline int in_child(const std::function<int()>& body) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(body());
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace gnnbench::energy_tests
