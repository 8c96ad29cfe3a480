#include "record/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include <boost/math/distributions/normal.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "record/statistics.hpp"

namespace gnnbench {
namespace {

/// P(|Z| > z), Z standard normal.
double two_sided(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

/// The z with P(Z < z) = p.
double normal_quantile(double p) { return quantile(boost::math::normal(), p); }

/// Ranks from 1, ties sharing their mean.
std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> ranks(values.size());
    for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
        while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
        for (std::size_t i = from; i < to; ++i) ranks[order[i]] = static_cast<double>(from + to + 1) / 2;
    }
    return ranks;
}

std::vector<double> log_ratios(const Samples& s) {
    std::vector<double> all;
    for (std::size_t i = 0; i < s.a_s.size(); ++i) all.push_back(std::log(s.b_s[i] / s.a_s[i]));
    return all;
}

double robust_spread(std::vector<double> values) {
    const double middle = median(values);
    double squares = 0;
    for (double& v : values) {
        v = std::abs(v - middle);
        squares += v * v;
    }
    const double deviation = values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0;
    // Outliers cost the rank tests something, though less than they add to the standard deviation.
    return (1.4826 * median(values) + deviation) / 2;
}

/// Ratios of medians of 2,000 draws from the samples, ascending.
constexpr std::size_t bootstrap_draws = 2000;
std::vector<double> bootstrap_ratios(const Samples& s, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> ratios;
    std::vector<double> a(s.a_s.size()), b(s.b_s.size());
    const auto below = [&](std::size_t n) { return usize(random() % n); };
    for (std::size_t d = 0; d < bootstrap_draws; ++d) {
        if (s.paired) {
            for (std::size_t i = 0; i < a.size(); ++i) {
                const std::size_t k = below(a.size());
                a[i] = s.a_s[k], b[i] = s.b_s[k];
            }
        } else {
            for (double& v : a) v = s.a_s[below(a.size())];
            for (double& v : b) v = s.b_s[below(b.size())];
        }
        ratios.push_back(median(b) / median(a));
    }
    std::sort(ratios.begin(), ratios.end());
    return ratios;
}

/// The ratio of medians' 95% interval, by percentiles.
void bootstrap(Comparison& c, const Samples& s, std::uint64_t seed) {
    const std::vector<double> ratios = bootstrap_ratios(s, seed);
    c.low = ratios[bootstrap_draws * 25 / 1000];
    c.high = ratios[bootstrap_draws * 975 / 1000 - 1];
}

/// `lean`: see SignedRank. Where times drift, medians of the sides may differ the other way than the pairs do.
Judgement judgement_of(const Comparison& c, double lean, const CompareRules& rules) {
    const bool leaves_one_out = c.low > 1 || c.high < 1;
    const bool beyond = c.ratio > 1 + rules.margin || c.ratio < 1 / (1 + rules.margin);
    const bool agree = (c.ratio > 1) == (lean > 0);
    if (c.corrected_p <= rules.level && leaves_one_out && beyond && agree)
        return c.ratio < 1 ? Judgement::faster : Judgement::slower;
    if (c.low >= 1 / (1 + rules.margin) && c.high <= 1 + rules.margin) return Judgement::same;
    return Judgement::unclear;
}

}  // namespace

const char* to_text(Judgement judgement) {
    switch (judgement) {
        case Judgement::faster:
            return "FASTER";
        case Judgement::slower:
            return "SLOWER";
        case Judgement::same:
            return "SAME";
        case Judgement::unclear:
            return "UNCLEAR";
    }
    return "";
}

SignedRank signed_rank(std::span<const double> differences) {
    std::vector<double> sizes, values;
    for (const double d : differences)
        if (d != 0) sizes.push_back(std::abs(d)), values.push_back(d);
    const std::size_t n = values.size();
    if (n == 0) return {};
    const std::vector<double> ranks = ranks_of(sizes);
    double up = 0, total = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        up += values[i] > 0 ? ranks[i] : 0;
        total += ranks[i];
        squares += ranks[i] * ranks[i];
    }
    const double lean = up - total / 2, away = std::abs(lean);
    if (n > 50) return {two_sided(std::max(0.0, away - 0.5) / std::sqrt(squares / 4)), lean};
    // Every choice of signs is as likely; ranks are halves of whole numbers. ways[s]: share of choices with sum s/2.
    std::vector<double> ways(usize(std::lround(2 * total)) + 1, 0);
    ways[0] = 1;
    for (const double rank : ranks) {
        const auto step = usize(std::lround(2 * rank));
        for (std::size_t s = ways.size(); s-- > 0;) ways[s] = (ways[s] + (s >= step ? ways[s - step] : 0)) / 2;
    }
    double p = 0;
    for (std::size_t s = 0; s < ways.size(); ++s)
        if (std::abs(static_cast<double>(s) / 2 - total / 2) >= away - 1e-9) p += ways[s];
    return {std::min(1.0, p), lean};
}

std::vector<double> holm(std::span<const double> p) {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
    std::vector<double> corrected(p.size());
    double at_least = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        at_least = std::max(at_least, std::min(1.0, p[order[k]] * static_cast<double>(p.size() - k)));
        corrected[order[k]] = at_least;
    }
    return corrected;
}

double spread_of(const Samples& s) {
    if (s.a_s.empty() || s.b_s.empty()) return 0;
    if (s.paired) return robust_spread(log_ratios(s));
    const auto logs = [](std::vector<double> v) {
        for (double& x : v) x = std::log(x);
        return v;
    };
    const double a = robust_spread(logs(s.a_s)), b = robust_spread(logs(s.b_s));
    return std::sqrt(a * a + b * b);
}

double spread_of_medians(const Samples& s, const CompareRules& rules) {
    const double spread = spread_of(s);
    const std::size_t trials = std::min(s.a_s.size(), s.b_s.size());
    if (trials < 2) return spread;
    std::vector<double> logs = bootstrap_ratios(s, rules.seed);
    double mean = 0, squares = 0;
    for (double& r : logs) mean += (r = std::log(r)) / static_cast<double>(logs.size());
    for (const double r : logs) squares += (r - mean) * (r - mean);
    // A median of n normal values has π/2n of their variance.
    const double variance_of_medians = squares / static_cast<double>(logs.size() - 1);
    return std::max(spread, std::sqrt(variance_of_medians * static_cast<double>(trials) / (std::numbers::pi / 2)));
}

std::int64_t trials_for(double ratio, double spread, std::int64_t cells, const CompareRules& rules) {
    const double level = rules.level / static_cast<double>(std::max<std::int64_t>(1, cells));
    // Test, interval and margin must all agree and may fail separately, so each gets a little more power.
    const double z_power = normal_quantile(1 - (1 - rules.power) / 1.5),
                 z = normal_quantile(1 - level / 2) + z_power;
    const double effect = std::max(std::abs(std::log(ratio)), 1e-6);
    // The ratio must be beyond the margin with the same power; near it that needs too many trials, hence the bound.
    const double beyond = std::max(effect - std::log1p(rules.margin), effect / 4);
    // The rank tests need π/3 times as many as the t test, the ratio of medians' interval up to π/2 times.
    const double n = std::numbers::pi / 2 * std::pow(spread * std::max(z / effect, z_power / beyond), 2);
    // With n pairs no p is below 2^(1−n), so at least that many must agree in sign; n pairs come on top of that.
    const double least = std::ceil(1 - std::log2(level));
    return std::max(rules.fewest, static_cast<std::int64_t>(least - 1 + std::min(1e6, std::ceil(n))));
}

std::vector<Comparison> judge(std::span<const Samples> cells, const CompareRules& rules) {
    std::vector<Comparison> all(cells.size());
    std::vector<double> p, lean;
    std::vector<std::size_t> tested;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Samples& s = cells[i];
        require(!s.paired || s.a_s.size() == s.b_s.size(), "pairs of trials with one side missing");
        if (s.a_s.empty() || s.b_s.empty()) continue;
        all[i].a_s = median(s.a_s);
        all[i].b_s = median(s.b_s);
        all[i].ratio = all[i].b_s / all[i].a_s;
        bootstrap(all[i], s, rules.seed + i);
        if (!s.paired) continue;
        const SignedRank test = signed_rank(log_ratios(s));
        all[i].p = test.p;
        if (std::ssize(s.a_s) < rules.fewest) continue;
        p.push_back(test.p);
        lean.push_back(test.lean);
        tested.push_back(i);
    }
    const std::vector<double> corrected = holm(p);
    for (std::size_t k = 0; k < tested.size(); ++k) {
        Comparison& c = all[tested[k]];
        c.corrected_p = corrected[k];
        c.judgement = judgement_of(c, lean[k], rules);
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
        Comparison& c = all[i];
        // For unpaired samples, neither ratio nor spread tells what pairs would show.
        if (c.judgement != Judgement::unclear || !cells[i].paired || cells[i].a_s.empty()) continue;
        const auto trials = std::ssize(cells[i].a_s);
        // A ratio near the margin is treated as if it were on it.
        const double effect = std::max(std::abs(std::log(c.ratio)), std::log1p(rules.margin));
        c.trials_wanted = std::max(trials + 1, trials_for(std::exp(effect), spread_of_medians(cells[i], rules),
                                                          static_cast<std::int64_t>(cells.size()), rules));
    }
    return all;
}

}  // namespace gnnbench
