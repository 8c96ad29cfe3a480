#include <gnnbench/slowdown.hpp>

#include <algorithm>

#include <gnnbench/busy_time.hpp>
#include <gnnbench/random.hpp>

namespace gnnbench {

double Slowdown::pause_s(int rank, std::int64_t step, double busy_s) const {
    const auto named = factor.find(rank);
    const double f = named == factor.end() ? 1.0 : named->second;
    const double u = 2 * unit_interval(random_word(seed, Draw::slowdown, static_cast<std::uint64_t>(step),
                                                   static_cast<std::uint32_t>(rank), 0)) -
                     1;
    return std::max(0.0, f * (1 + jitter * u) - 1) * busy_s;
}

void Slowdown::delay_after(int rank, std::int64_t step, double busy_s) const {
    if (!declared()) return;
    const double pause = pause_s(rank, step, busy_s);
    BusyTime spent;
    spent.start();
    while (spent.seconds() < pause) {
    }
}

}  // namespace gnnbench
