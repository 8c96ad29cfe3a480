#include "uploads.hpp"

#include <cstring>

#include <gnnbench/error.hpp>

#include "check.hpp"

namespace gnnbench::cuda {
namespace {

/// More at once is data of a set-up, for which waiting is cheaper than page-locking as much memory.
constexpr std::size_t most_of_one = std::size_t{16} << 20;
constexpr std::size_t most_under_way = std::size_t{64} << 20;
/// Uploads after which the driver is asked which have ended.
constexpr std::size_t asked_from = 16;

}  // namespace

void Uploads::copy(const void* host, void* device, std::size_t bytes) {
    std::shared_ptr<std::byte> memory = memory_for(bytes);
    if (memory) std::memcpy(memory.get(), host, bytes);
    check(cudaMemcpyAsync(device, memory ? memory.get() : host, bytes, cudaMemcpyHostToDevice, streams_.compute()),
          "cudaMemcpyAsync to the device");
    if (!memory) return wait();
    under_way_.push_back({streams_.record(StreamRole::compute), std::move(memory), bytes});
    bytes_under_way_ += bytes;
}

std::shared_ptr<std::byte> Uploads::memory_for(std::size_t bytes) {
    if (bytes > most_of_one) return nullptr;
    if (under_way_.size() >= asked_from || bytes_under_way_ + bytes > most_under_way) forget_completed();
    if (bytes_under_way_ + bytes > most_under_way) wait();
    try {
        return pinned_->take(bytes);
    } catch (const OutOfMemory&) {
        return nullptr;
    }
}

void Uploads::forget_completed() {
    while (!under_way_.empty() && under_way_.front().done.ready()) {
        bytes_under_way_ -= under_way_.front().bytes;
        under_way_.pop_front();
    }
}

void Uploads::wait() {
    streams_.synchronize(StreamRole::compute);
    under_way_.clear();
    bytes_under_way_ = 0;
}

}  // namespace gnnbench::cuda
