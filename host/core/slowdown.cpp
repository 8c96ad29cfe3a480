#include <gnnbench/slowdown.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

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

void Slowdown::sleep_after(int rank, std::int64_t step, double busy_s) const {
    if (!declared()) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s(rank, step, busy_s)));
}

}  // namespace gnnbench
