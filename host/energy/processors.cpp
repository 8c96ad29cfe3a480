#include "energy/processors.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

bool WrappingCounter::read(std::uint64_t now_uj, Clock::time_point at) {
    const std::chrono::duration<double> apart = at - last_at_;
    // The value after the range is 0 again; one microjoule is far below what a counter resolves.
    sum_uj_ += now_uj >= last_uj_ ? now_uj - last_uj_ : now_uj + range_uj_ - last_uj_;
    last_uj_ = now_uj;
    last_at_ = at;
    return apart.count() <= safe_s();
}

ProcessorEnergy::ProcessorEnergy(std::vector<EnergyZone> zones) : zones_(std::move(zones)) {
    for (const EnergyZone& zone : zones_)
        counters_.emplace_back(zone.range_uj, read_counter(zone.counter), WrappingCounter::Clock::now());
    reader_ = std::jthread([this](const std::stop_token& stop) { keep_reading(stop); });
}

ProcessorEnergy::~ProcessorEnergy() {
    reader_.request_stop();
    stopped_.notify_all();
}

void ProcessorEnergy::read_all() {
    for (std::size_t i = 0; i < zones_.size() && failure_.empty(); ++i) try {
            const std::uint64_t now_uj = read_counter(zones_[i].counter);
            if (counters_[i].read(now_uj, WrappingCounter::Clock::now())) continue;
            failure_ = fmt::format(
                "the counter of {} was not read for so long that it may have wrapped twice: at {:g} W it does "
                "after {:.3g} s",
                zones_[i].name, most_watts, counters_[i].safe_s());
        } catch (const EnvironmentError& e) {
            failure_ = e.what();
        }
}

double ProcessorEnergy::joules() {
    const std::lock_guard lock(mutex_);
    read_all();
    if (!failure_.empty()) throw EnvironmentError(failure_);
    double sum = 0;
    for (const WrappingCounter& c : counters_) sum += c.joules();
    return sum;
}

void ProcessorEnergy::keep_reading(const std::stop_token& stop) {
    double safe_s = 3600;
    for (const WrappingCounter& c : counters_) safe_s = std::min(safe_s, c.safe_s());
    const std::chrono::duration<double> pause(safe_s / 4);
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, stop, pause, [] { return false; }) && !stop.stop_requested()) read_all();
}

}  // namespace gnnbench
