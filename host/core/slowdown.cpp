#include <gnnbench/slowdown.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include <gnnbench/busy_time.hpp>
#include <gnnbench/process_group.hpp>
#include <gnnbench/random.hpp>

namespace gnnbench {

double Slowdown::times(int rank, std::int64_t draw) const {
    const auto named = factor.find(rank);
    const double f = named == factor.end() ? 1.0 : named->second;
    const auto uniform = [&](std::uint32_t number) {
        return unit_interval(random_word(seed, Draw::slowdown, static_cast<std::uint64_t>(draw),
                                         static_cast<std::uint32_t>(rank), number));
    };
    const double jittered = f * (1 + jitter * (2 * uniform(0) - 1));
    if (spread == 0) return jittered;
    // Box and Muller's normal number; 1 − u is never 0.
    const double z = std::sqrt(-2 * std::log(1 - uniform(1))) * std::cos(2 * std::numbers::pi * uniform(2));
    return jittered * std::exp(spread * z);
}

double Slowdown::pause_s(int rank, std::int64_t draw, double busy_s) const {
    return std::max(0.0, times(rank, draw) - 1) * busy_s;
}

std::int64_t Slowdown::draw_at(std::int64_t step, double now_s) const {
    return lasts_s > 0 ? static_cast<std::int64_t>(now_s / lasts_s) : step;
}

void Slowdown::begin_step(const ProcessGroup& ranks, std::int64_t step) const {
    if (Turns* turns = ranks.turns(); turns && declared())
        turns->pace(times(ranks.rank(), draw_at(step, turns->now_s())));
}

void Slowdown::end_step(const ProcessGroup& ranks, std::int64_t step, double busy_s) const {
    if (!declared()) return;
    if (Turns* turns = ranks.turns()) return turns->pace(1);
    const double now_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    const double pause = pause_s(ranks.rank(), draw_at(step, now_s), busy_s);
    BusyTime spent;
    spent.start();
    while (spent.seconds() < pause) {
    }
}

}  // namespace gnnbench
