#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

namespace gnnbench::cuda {

/// Device memory kept between uses. A block given back waits for a request of about its size; when the device has
/// no more, all waiting blocks go back to it first. Knows nothing of streams: who gives back says that work is
/// over.
class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool();

    /// 256-byte aligned; nullptr where the device has no memory left. Other errors throw.
    void* take(std::size_t bytes);
    void give_back(void* data) noexcept;
    /// Waiting blocks go back to the device.
    void trim() noexcept;
    /// What could still be had: the device's free memory and waiting blocks.
    std::int64_t free_bytes() const;

private:
    std::unordered_map<void*, std::size_t> taken_;
    std::multimap<std::size_t, void*> waiting_;
    std::size_t waiting_bytes_ = 0;
};

}  // namespace gnnbench::cuda
