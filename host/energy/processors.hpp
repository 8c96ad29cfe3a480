#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "energy/powercap.hpp"

namespace gnnbench {

/// No package or its memory draws more: the largest processors of today are specified for half of it.
inline constexpr double most_watts = 1000;

/// Adds up what a counter counts, though it begins again at 0.
class WrappingCounter {
public:
    using Clock = std::chrono::steady_clock;

    WrappingCounter(std::uint64_t range_uj, std::uint64_t first_uj, Clock::time_point at)
        : range_uj_(range_uj), last_uj_(first_uj), last_at_(at) {}
    /// Whether it is known how often the counter has wrapped since the last reading: at most once.
    bool read(std::uint64_t now_uj, Clock::time_point at);
    /// Since the first reading.
    double joules() const { return static_cast<double>(sum_uj_) * 1e-6; }
    /// It cannot wrap twice within this, at most_watts.
    double safe_s() const { return static_cast<double>(range_uj_) * 1e-6 / most_watts; }

private:
    std::uint64_t range_uj_, last_uj_, sum_uj_ = 0;
    Clock::time_point last_at_;
};

/// Packages and DRAM of this host. A thread reads the counters four times within the time in which the fastest may wrap,
/// which is every quarter of a minute or less often, so that readings may be any time apart.
class ProcessorEnergy {
public:
    /// RAPL counts on each millisecond.
    static constexpr double update_s = 1e-3;

    /// Throws EnvironmentError where a counter cannot be read.
    explicit ProcessorEnergy(std::vector<EnergyZone> zones);
    ~ProcessorEnergy();
    ProcessorEnergy(const ProcessorEnergy&) = delete;
    ProcessorEnergy& operator=(const ProcessorEnergy&) = delete;

    /// Since construction. Throws EnvironmentError where a counter cannot be read, or may have wrapped unseen; from then
    /// on always.
    double joules();

private:
    void read_all();
    void keep_reading(const std::stop_token& stop);

    std::vector<EnergyZone> zones_;
    std::vector<WrappingCounter> counters_;
    std::string failure_;
    std::mutex mutex_;  ///< of all the above
    std::condition_variable_any stopped_;
    std::jthread reader_;
};

}  // namespace gnnbench
