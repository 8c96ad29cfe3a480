#pragma once
#include <cstdint>

namespace gnnbench {

/// Whether the kernel's OOM killer has killed a process since construction: in our cgroup if counted there, else
/// anywhere on this host.
class OomKiller {
public:
    OomKiller();
    bool has_killed() const;

private:
    std::int64_t before_;
};

}  // namespace gnnbench
