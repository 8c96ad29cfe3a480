#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace gnnbench::cuda {

/// Caches device memory. A released block waits for a request of about its size; when the device has
/// no more, the cached blocks are freed first. Knows nothing of streams: release a block only when the work on it is
/// over.
class Pool {
public:
    /// `reuses`: whether released blocks wait; else each is exactly as large as it was asked for, and freed at once.
    explicit Pool(bool reuses) : reuses_(reuses) {}
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool();

    /// 256-byte aligned; nullptr where the device has no memory left. Other errors throw.
    void* take(std::size_t bytes);
    void give_back(void* data) noexcept;
    /// As give_back, while streams may still be at work on the block: it waits until the next block is given back.
    void set_aside(void* data) noexcept;
    /// Frees the cached blocks.
    void trim() noexcept;
    /// The available memory: the device's free memory plus cached blocks.
    std::int64_t free_bytes() const;

private:
    bool reuses_;
    std::unordered_map<void*, std::size_t> taken_;
    std::multimap<std::size_t, void*> waiting_;
    std::vector<void*> aside_;  ///< among those taken
    std::size_t waiting_bytes_ = 0;
};

}  // namespace gnnbench::cuda
