#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace gnnbench {

/// The logical processors that this process may use, as the system numbers them; siblings of one core, and cores of one
/// package, follow each other, so that disjoint runs of the list share as little as possible. As many as
/// usable_cores() says.
std::vector<int> usable_cpus();

class CorePool;

/// Processors that one trial has for itself until this is destroyed.
class CoreLease {
public:
    CoreLease() = default;  ///< none: the trial shares what there is
    CoreLease(CoreLease&& other) noexcept;
    CoreLease& operator=(CoreLease&&) = delete;
    ~CoreLease();
    const std::vector<int>& cpus() const { return cpus_; }  ///< ascending in the pool's order

private:
    friend class CorePool;
    CoreLease(CorePool& pool, std::vector<int> cpus) : pool_(&pool), cpus_(std::move(cpus)) {}
    CorePool* pool_ = nullptr;
    std::vector<int> cpus_;
};

/// Packs concurrent trials onto disjoint processors. Must outlive its leases.
class CorePool {
public:
    explicit CorePool(std::vector<int> cpus) : free_(cpus), all_(std::move(cpus)) {}
    CorePool(const CorePool&) = delete;
    CorePool& operator=(const CorePool&) = delete;

    int size() const { return static_cast<int>(all_.size()); }
    /// So many processors, or all if there are fewer; waits until they are free. Whoever asked first gets them first,
    /// so that a trial that needs all is not passed by small ones for ever.
    CoreLease take(int count);

private:
    friend class CoreLease;
    void give_back(const std::vector<int>& cpus);

    std::mutex guard_;
    std::condition_variable changed_;
    std::vector<int> free_;  ///< in the order of all_
    const std::vector<int> all_;
    std::uint64_t next_ticket_ = 0, served_ = 0;
};

}  // namespace gnnbench
