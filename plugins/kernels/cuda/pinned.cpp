#include "pinned.hpp"

#include <bit>
#include <exception>

#include "check.hpp"

namespace gnnbench::cuda {

PinnedPool::~PinnedPool() {
    if (std::uncaught_exceptions() > 0) return;  // cudaFreeHost waits for the device, as in Pool
    for (const auto& [bytes, data] : waiting_) (void)cudaFreeHost(data);
}

std::shared_ptr<std::byte> PinnedPool::take(std::size_t bytes) {
    // Powers of two: few sizes, each used again.
    const std::size_t rounded = std::bit_ceil(bytes < 4096 ? std::size_t{4096} : bytes);
    std::byte* data = nullptr;
    if (const auto found = waiting_.find(rounded); found != waiting_.end()) {
        data = found->second;
        waiting_.erase(found);
    } else {
        void* fresh = nullptr;
        check(cudaHostAlloc(&fresh, rounded, cudaHostAllocDefault), "cudaHostAlloc");
        data = static_cast<std::byte*>(fresh);
    }
    return {data, [pool = shared_from_this(), rounded](std::byte* p) { pool->waiting_.emplace(rounded, p); }};
}

}  // namespace gnnbench::cuda
