#include "record/selftest.hpp"

#include <numeric>
#include <random>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Even trials against odd ones.
Samples neighbours(std::span<const double> epoch_s) {
    Samples s;
    for (std::size_t i = 0; i + 1 < epoch_s.size(); i += 2) {
        s.a_s.push_back(epoch_s[i]);
        s.b_s.push_back(epoch_s[i + 1]);
    }
    return s;
}

}  // namespace

std::int64_t pool_for(std::span<const double> epoch_s, double slowdown, const CompareRules& rules) {
    return 2 * trials_for(1 + slowdown, spread_of_medians(neighbours(epoch_s), rules), 1, rules);
}

AaResult against_itself(std::span<const double> epoch_s, double slowdown, std::int64_t draws,
                        const CompareRules& rules) {
    const Samples pool = neighbours(epoch_s);
    AaResult result{.spread = spread_of(pool),
                    .trials = pool_for(epoch_s, slowdown, rules) / 2,
                    .draws = draws,
                    .false_rate = 0,
                    .found_rate = 0};
    const auto wanted = usize(result.trials);
    if (pool.a_s.size() < wanted)
        throw SpecError(
            fmt::format("expected a pool of {} trials or more, to find a slowdown of {:.0f}% here; found {}",
                        2 * wanted, 100 * slowdown, epoch_s.size()));
    std::mt19937_64 random(rules.seed);
    std::vector<std::size_t> order(pool.a_s.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::int64_t wrong = 0, found = 0;
    for (std::int64_t d = 0; d < draws; ++d) {
        for (std::size_t i = 0; i < wanted; ++i) std::swap(order[i], order[i + random() % (order.size() - i)]);
        Samples drawn;
        for (std::size_t i = 0; i < wanted; ++i) {
            const bool swapped = random() % 2;
            drawn.a_s.push_back(swapped ? pool.b_s[order[i]] : pool.a_s[order[i]]);
            drawn.b_s.push_back(swapped ? pool.a_s[order[i]] : pool.b_s[order[i]]);
        }
        const auto judged = [&] { return judge({&drawn, 1}, rules)[0].judgement; };
        const Judgement same = judged();
        wrong += same == Judgement::faster || same == Judgement::slower;
        for (double& t : drawn.b_s) t *= 1 + slowdown;
        found += judged() == Judgement::slower;
    }
    result.false_rate = static_cast<double>(wrong) / static_cast<double>(draws);
    result.found_rate = static_cast<double>(found) / static_cast<double>(draws);
    return result;
}

}  // namespace gnnbench
