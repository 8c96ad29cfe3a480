#pragma once
#include <cstdint>

namespace gnnbench {

/// Tells whether the kernel's OOM killer struck since construction: in our cgroup where that is counted, else
/// anywhere on this host.
class OomKiller {
public:
    OomKiller();
    bool struck() const;

private:
    std::int64_t before_;
};

}  // namespace gnnbench
