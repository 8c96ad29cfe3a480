#include "record/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

/// Student's t, two-sided 95%, for 1 to 4 degrees of freedom.
constexpr double t_975[] = {12.706204736174698, 4.302652729911275, 3.182446305284263, 2.776445105197793};

/// Run times are positive and skewed to the right, so their logarithms are taken to be normal: exp of the mean of
/// logarithms is then the median, and exp of its t interval the median's. For n ≤ 5 it holds the sample median too,
/// as |median − mean| ≤ s·√((n−1)/n) < t·s/√n.
Estimate with_student_t_of_logarithms(std::span<const double> values, double middle) {
    const auto n = static_cast<double>(values.size());
    double mean = 0, squares = 0;
    for (const double v : values) mean += std::log(v) / n;
    for (const double v : values) squares += (std::log(v) - mean) * (std::log(v) - mean);
    const double half = t_975[values.size() - 2] * std::sqrt(squares / (n - 1) / n);
    return {static_cast<std::int64_t>(values.size()), middle, std::exp(mean - half), std::exp(mean + half),
            SpreadMethod::log_student_t};
}

/// [x_(k), x_(n+1-k)] covers the median with probability 1 − 2·P(B < k), B ~ Binomial(n, ½): the largest such k
/// that keeps 95%.
Estimate with_order_statistics(std::span<const double> sorted, double middle) {
    const std::size_t n = sorted.size();
    double term = std::exp2(-static_cast<double>(n)), below = term;  // P(B = 0), P(B < k) for k = 1
    std::size_t k = 1;
    if (n > 1000)  // where 2^-n nears the smallest double, the normal approximation is exact to less than one rank
        k = static_cast<std::size_t>((static_cast<double>(n) - 1.96 * std::sqrt(static_cast<double>(n))) / 2);
    while (n <= 1000 && k < n / 2) {
        term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
        if (2 * (below + term) > 0.05) break;
        below += term;
        ++k;
    }
    return {static_cast<std::int64_t>(n), middle, sorted[k - 1], sorted[n - k], SpreadMethod::order_statistics};
}

}  // namespace

double median(std::span<const double> values) {
    require(!values.empty(), "the median of no values was asked for");
    std::vector<double> v(values.begin(), values.end());
    const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
    std::nth_element(v.begin(), middle, v.end());
    if (v.size() % 2 == 1) return *middle;
    return (*std::max_element(v.begin(), middle) + *middle) / 2;
}

Estimate estimate(std::span<const double> values) {
    const double middle = median(values);
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const auto trials = static_cast<std::int64_t>(values.size());
    if (trials == 1 || (trials < 6 && sorted[0] <= 0)) return {trials, middle, middle, middle, SpreadMethod::none};
    if (sorted.front() == sorted.back() && trials < 6)  // bytes, say; the logarithms would only round
        return {trials, middle, middle, middle, SpreadMethod::log_student_t};
    if (trials < 6) return with_student_t_of_logarithms(sorted, middle);
    return with_order_statistics(sorted, middle);
}

}  // namespace gnnbench
