#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace gnnbench {

/// Of at least one value; the mean of the middle two where their number is even.
double median(std::span<const double> values);

/// How a spread was found; tables say so.
enum class SpreadMethod : std::uint8_t {
    none,             ///< one trial: nothing is known of its spread
    range,            ///< two trials: their range, no interval
    student_t,        ///< 3 to 5 trials: mean ± t·s/√n, which leans on normality
    order_statistics  ///< 6 and more: distribution-free, covers the median with at least 95%
};
inline constexpr std::string_view spread_method_names[] = {"none", "range", "student-t", "order-statistics"};

/// The median of a cell's trials, with its 95% interval where the trials can give one.
struct Estimate {
    std::int64_t trials = 0;
    double median = 0;
    double low = 0, high = 0;  ///< the interval, or the range; both the median for one trial
    SpreadMethod method = SpreadMethod::none;
    double half_width() const { return (high - low) / 2; }
};
/// `values`: one for each trial; not empty.
Estimate estimate(std::span<const double> values);

}  // namespace gnnbench
