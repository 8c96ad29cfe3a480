#include "launch/core_pool.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>

#include <sched.h>

#include <gnnbench/usize.hpp>

#include "launch/machine.hpp"

namespace gnnbench {
namespace {

/// A number of a processor's topology; 0 where the system does not tell.
int topology_of(int cpu, const char* what) {
    int number = 0;
    std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + what) >> number;
    return number;
}

}  // namespace

std::vector<int> usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<std::tuple<int, int, int>> placed;  // package, core, processor
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(usize(cpu), &set))
                placed.emplace_back(topology_of(cpu, "physical_package_id"), topology_of(cpu, "core_id"), cpu);
    std::sort(placed.begin(), placed.end());
    std::vector<int> cpus;
    for (const auto& [package, core, cpu] : placed) cpus.push_back(cpu);
    cpus.resize(std::min(cpus.size(), usize(usable_cores())));
    return cpus;
}

CoreLease::CoreLease(CoreLease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), cpus_(std::move(other.cpus_)) {}

CoreLease::~CoreLease() {
    if (pool_) pool_->give_back(cpus_);
}

CoreLease CorePool::take(int count) {
    const std::size_t wanted = std::min(usize(std::max(count, 1)), all_.size());
    std::unique_lock lock(guard_);
    const std::uint64_t ticket = next_ticket_++;
    changed_.wait(lock, [&] { return served_ == ticket && free_.size() >= wanted; });
    ++served_;
    changed_.notify_all();
    const auto end = free_.begin() + static_cast<std::ptrdiff_t>(wanted);
    std::vector<int> cpus(free_.begin(), end);
    free_.erase(free_.begin(), end);
    return {*this, std::move(cpus)};
}

void CorePool::give_back(const std::vector<int>& cpus) {
    const std::lock_guard lock(guard_);
    std::vector<int> now_free;
    for (const int cpu : all_)
        if (std::ranges::count(free_, cpu) > 0 || std::ranges::count(cpus, cpu) > 0) now_free.push_back(cpu);
    free_ = std::move(now_free);
    changed_.notify_all();
}

}  // namespace gnnbench
