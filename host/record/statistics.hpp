#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace gnnbench {

/// Median of one or more values; the mean of the middle two if their number is even.
double median(std::span<const double> values);

/// The method behind a spread; tables name it.
enum class SpreadMethod : std::uint8_t {
    none,           ///< one trial: nothing is known of its spread
    log_student_t,  ///< 2 to 5 trials: exp(m ± t·s/√n), m and s of the logarithms; leans on times being log-normal
    order_statistics  ///< 6 and more: distribution-free, covers the median with at least 95%
};
inline constexpr std::string_view spread_method_names[] = {"none", "log-student-t", "order-statistics"};

/// The median of a cell's trials, with its 95% confidence interval where the trials can give one.
struct Estimate {
    std::int64_t trials = 0;
    double median = 0;
    double low = 0, high = 0;  ///< of the interval, around the median; both the median where there is none
    SpreadMethod method = SpreadMethod::none;
    bool has_interval() const { return method != SpreadMethod::none; }
    /// Whether a table has the interval beside the median. That of two trials, by a t of 12.7, may be thousands of times as wide
    /// as the median is large, and says only that two are too few.
    bool shows_interval() const { return has_interval() && trials > 2; }
    /// Whether the two intervals leave no doubt that this is less.
    bool surely_below(const Estimate& other) const {
        return has_interval() && other.has_interval() && high < other.low;
    }
};
/// `values`: one for each trial; not empty. 2 to 5 values of which one is not positive have no interval.
Estimate estimate(std::span<const double> values);

}  // namespace gnnbench
