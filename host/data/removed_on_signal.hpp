#pragma once
#include <filesystem>

namespace gnnbench {

/// While it lives, SIGINT, SIGTERM and SIGHUP remove a folder and the plain files in it before they end the process; those that
/// are ignored or handled already remain so. At most one at a time does anything.
class RemovedOnSignal {
public:
    explicit RemovedOnSignal(const std::filesystem::path& folder);
    RemovedOnSignal(const RemovedOnSignal&) = delete;
    ~RemovedOnSignal();

private:
    bool active_ = false;
};

}  // namespace gnnbench
