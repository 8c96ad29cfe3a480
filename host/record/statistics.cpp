#include "record/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

/// Run times are positive and skewed to the right, so their logarithms are taken to be normal: exp of the mean of
/// logarithms is then the median, and exp of its t interval the median's. For n ≤ 5 it holds the sample median too,
/// as |median − mean| ≤ s·√((n−1)/n) < t·s/√n.
Estimate with_student_t_of_logarithms(std::span<const double> values, double middle) {
    const auto n = static_cast<double>(values.size());
    double mean = 0, squares = 0;
    for (const double v : values) mean += std::log(v) / n;
    for (const double v : values) squares += (std::log(v) - mean) * (std::log(v) - mean);
    const boost::math::students_t t(n - 1);
    const double half = quantile(complement(t, 0.025)) * std::sqrt(squares / (n - 1) / n);
    return {static_cast<std::int64_t>(values.size()), middle, std::exp(mean - half), std::exp(mean + half),
            SpreadMethod::log_student_t};
}

/// [x_(k), x_(n+1-k)] covers the median with probability 1 − 2·P(B < k), B ~ Binomial(n, ½): the largest such k
/// that keeps 95%.
Estimate with_order_statistics(std::span<const double> sorted, double middle) {
    const std::size_t n = sorted.size();
    const boost::math::binomial b(static_cast<double>(n), 0.5);
    const auto k =
        static_cast<std::size_t>(quantile(b, 0.025)) + 1;  // quantile: the largest whole x with P(B ≤ x) ≤ 0.025
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
