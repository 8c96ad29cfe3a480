#include "pool.hpp"

#include <exception>
#include <utility>

#include "check.hpp"

namespace gnnbench::cuda {
namespace {
constexpr std::size_t granule = 512;

/// The emulated device is told what is lent, and finds accesses to anything else. A real one is told nothing.
#ifdef GNNBENCH_CUDA_EMULATED
void* lent(void* data, std::size_t bytes) {
    emulated::lends(data, bytes);
    return data;
}
void has_back(void* data) { emulated::has_back(data); }
#else
void* lent(void* data, std::size_t) { return data; }
void has_back(void*) {}
#endif

}  // namespace

Pool::~Pool() {
    // cudaFree waits for the device, which after a failure may wait for peers that never arrive.
    if (std::uncaught_exceptions() > 0) return;
    trim();
    for (const auto& [data, bytes] : taken_) (void)cudaFree(data);
}

void* Pool::take(std::size_t bytes) {
    const std::size_t rounded = reuses_ ? (bytes + granule - 1) / granule * granule : bytes;
    // A block up to an eighth larger is reused: epochs and trials request the same sizes repeatedly.
    if (const auto found = waiting_.lower_bound(rounded);
        found != waiting_.end() && found->first <= rounded + rounded / 8) {
        void* data = found->second;
        taken_.emplace(data, found->first);
        waiting_bytes_ -= found->first;
        waiting_.erase(found);
        return lent(data, bytes);
    }
    void* data = nullptr;
    cudaError_t code = cudaMalloc(&data, rounded);
    if (code == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        trim();
        code = cudaMalloc(&data, rounded);
    }
    if (code == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return nullptr;
    }
    check(code, "cudaMalloc");
    taken_.emplace(data, rounded);
    return lent(data, bytes);
}

void Pool::give_back(void* data) noexcept {
    for (void* block : std::exchange(aside_, {})) give_back(block);
    const auto found = taken_.find(data);
    if (found == taken_.end()) return;
    const std::size_t bytes = found->second;
    taken_.erase(found);
    if (!reuses_) {
        (void)cudaFree(data);
        return;
    }
    has_back(data);
    waiting_.emplace(bytes, data);
    waiting_bytes_ += bytes;
}

void Pool::set_aside(void* data) noexcept { aside_.push_back(data); }

void Pool::trim() noexcept {
    // cudaFree waits for the device; what it says of earlier errors shows at the next checked call.
    for (const auto& [bytes, data] : waiting_) (void)cudaFree(data);
    waiting_.clear();
    waiting_bytes_ = 0;
}

std::int64_t Pool::free_bytes() const {
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return -1;
    return static_cast<std::int64_t>(free + waiting_bytes_);
}

}  // namespace gnnbench::cuda
