#pragma once
#include <cstdint>
#include <map>

namespace gnnbench {

/// How much slower than they could ranks are declared to be, so that an experiment has the stragglers that it is
/// about. A rank with factor f adds (f·(1 + jitter·u) − 1) times the processor time that its step took, u uniform in
/// [−1, 1) and a function of (seed, rank, step). It is busy meanwhile: a rank that slept would give its core to others,
/// and a scheduler prefers those that slept, so that beside other work it could come out faster than without. Only
/// strategies that train by batches are slowed down.
struct Slowdown {
    std::map<int, double> factor;  ///< at least 1; a rank that is not named has 1
    double jitter = 0;             ///< in [0, 1]
    std::uint64_t seed = 0;

    bool declared() const { return !factor.empty() || jitter > 0; }
    bool operator==(const Slowdown&) const = default;
    /// Processor time to add after a step that took `busy_s`; not less than 0.
    double pause_s(int rank, std::int64_t step, double busy_s) const;
    /// Spends it, as phase `other`.
    void delay_after(int rank, std::int64_t step, double busy_s) const;
};

}  // namespace gnnbench
