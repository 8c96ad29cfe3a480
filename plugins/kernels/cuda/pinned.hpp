#pragma once
#include <cstddef>
#include <map>
#include <memory>

namespace gnnbench::cuda {

/// Cached page-locked host memory, through which copies run at full speed and overlap with the host's work.
class PinnedPool : public std::enable_shared_from_this<PinnedPool> {
public:
    PinnedPool() = default;
    PinnedPool(const PinnedPool&) = delete;
    PinnedPool& operator=(const PinnedPool&) = delete;
    ~PinnedPool();
    /// At least `bytes`, returned to the pool on destruction. Throws OutOfMemory.
    std::shared_ptr<std::byte> take(std::size_t bytes);

private:
    std::multimap<std::size_t, std::byte*> waiting_;
};

}  // namespace gnnbench::cuda
