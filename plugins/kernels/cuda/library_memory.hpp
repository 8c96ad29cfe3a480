#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include <cuda_runtime_api.h>

#include "check.hpp"

namespace gnnbench::cuda {

/// Counts device memory that was taken (negative: given back). Empty: it is not counted.
using CountMemory = std::function<void(std::int64_t bytes)>;

/// Device memory that a library takes for itself, counted as what the device has less of it after a call. Asking the driver
/// takes time, so only calls are measured that use something for the first time.
class LibraryMemory {
public:
    explicit LibraryMemory(CountMemory count) : count_(std::move(count)) {}
    LibraryMemory(LibraryMemory&& o) noexcept
        : count_(std::move(o.count_)), taken_bytes_(std::exchange(o.taken_bytes_, 0)), used_(std::move(o.used_)) {}
    LibraryMemory& operator=(LibraryMemory&&) = delete;
    /// What the library took is given back.
    ~LibraryMemory() {
        if (taken_bytes_ > 0) count_(-taken_bytes_);
    }
    const CountMemory& counter() const { return count_; }

    /// Whether `what` is used with this number for the first time.
    bool first_use(std::string_view what, int number) { return used_.emplace(what, number).second; }
    /// Calls, and counts what the library took meanwhile if it may have taken something.
    void during(bool may_take, auto&& call) {
        if (!may_take || !count_) return call();
        const std::int64_t before = free_bytes();
        call();
        const std::int64_t taken = before - free_bytes();
        if (taken <= 0) return;
        taken_bytes_ += taken;
        count_(taken);
    }

private:
    static std::int64_t free_bytes() {
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        return static_cast<std::int64_t>(free);
    }

    CountMemory count_;
    std::int64_t taken_bytes_ = 0;
    std::set<std::pair<std::string_view, int>> used_;  ///< of literals
};

}  // namespace gnnbench::cuda
