#pragma once
#include <cstdint>
#include <map>

namespace gnnbench {

class ProcessGroup;

/// How much slower than they could ranks are declared to be, so that an experiment has the stragglers that it is
/// about. A rank with factor f takes F = f·(1 + jitter·u)·exp(spread·z) times as long for a step, u uniform in [−1, 1), z
/// normal, both functions of (seed, rank, draw). A real rank adds F − 1 times the processor time that its step took, where
/// that is more than 0, and is busy meanwhile: one that slept would give its core to others, and a scheduler prefers those
/// that slept, so that beside other work it could come out faster than without. A simulated rank takes F times as
/// long. Only strategies that train by batches are slowed down.
struct Slowdown {
    std::map<int, double> factor;  ///< at least 1; a rank that is not named has 1
    double jitter = 0;             ///< in [0, 1]
    double spread = 0;             ///< standard deviation of the logarithm of a step's time
    double lasts_s = 0;  ///< seconds, of the ranks' clock, with the same u and z; 0: each step draws them
    std::uint64_t seed = 0;

    bool declared() const { return !factor.empty() || jitter > 0 || spread > 0; }
    bool operator==(const Slowdown&) const = default;
    /// By which a step's u and z are drawn: its own number, or that of the time in which it begins (a real one: ends).
    std::int64_t draw_at(std::int64_t step, double now_s) const;
    /// F.
    double times(int rank, std::int64_t draw) const;
    /// Processor time to add after a step that took `busy_s`; not less than 0.
    double pause_s(int rank, std::int64_t draw, double busy_s) const;
    /// Around a step of this rank of `ranks`: a real one spends pause_s() at the end, as phase `other`.
    void begin_step(const ProcessGroup& ranks, std::int64_t step) const;
    void end_step(const ProcessGroup& ranks, std::int64_t step, double busy_s) const;
};

}  // namespace gnnbench
