#include "report/draws.hpp"

#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "report/resolved_table.hpp"

namespace gnnbench {
namespace {

/// Tukey's variance, of the values without each of n draws.
double variance(const std::vector<double>& without) {
    const auto n = static_cast<double>(without.size());
    const double mean = std::accumulate(without.begin(), without.end(), 0.0) / n;
    double squares = 0;
    for (const double v : without) squares += (v - mean) * (v - mean);
    return squares * (n - 1) / n;
}

std::set<std::string> seeds_of(const WithoutDraw& without) {
    std::set<std::string> seeds;
    for (const auto& [seed, value] : without) seeds.insert(seed);
    return seeds;
}

}  // namespace

std::optional<double> two_errors(std::span<const ResolvedCell* const> numbers, const OfNumbers& quantity) {
    std::set<std::set<std::string>> groups;
    for (const ResolvedCell* number : numbers)
        if (!number->without.empty()) groups.insert(seeds_of(number->without));
    double all = 0;
    for (const std::set<std::string>& seeds : groups) {
        std::vector<double> values;
        for (const std::string& seed : seeds) {
            const auto value = quantity([&](const ResolvedCell& number) {
                return seeds_of(number.without) == seeds ? number.without.at(seed) : number.ours->median;
            });
            if (!value) return std::nullopt;
            values.push_back(*value);
        }
        all += variance(values);
    }
    return 2 * std::sqrt(all);
}

Estimate with_errors(Estimate value, const WithoutDraw& without) {
    std::vector<double> values;
    for (const auto& [seed, one] : without) values.push_back(one);
    const double error = 2 * std::sqrt(variance(values));
    value.low = value.median - error;
    value.high = value.median + error;
    return value;
}

}  // namespace gnnbench
