#include "launch/oom_killer.hpp"

#include <fstream>
#include <optional>
#include <string>

namespace gnnbench {

namespace {

std::optional<std::int64_t> counter(const std::string& path, const std::string& name) {
    std::ifstream in(path);
    std::string key;
    for (std::int64_t value = 0; in >> key >> value;)
        if (key == name) return value;
    return std::nullopt;
}

/// Our cgroup v2 folder as /proc/self/cgroup has it ("0::/user.slice"); empty without one.
std::string cgroup_folder() {
    std::ifstream in("/proc/self/cgroup");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
    return {};
}

std::int64_t oom_kills() {
    if (const std::string folder = cgroup_folder(); !folder.empty())
        if (const auto count = counter(folder + "/memory.events", "oom_kill")) return *count;
    return counter("/proc/vmstat", "oom_kill").value_or(0);
}

}  // namespace

OomKiller::OomKiller() : before_(oom_kills()) {}

bool OomKiller::has_killed() const { return oom_kills() > before_; }

}  // namespace gnnbench
