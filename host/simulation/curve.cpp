#include <gnnbench/simulation/machine.hpp>

#include <algorithm>
#include <cmath>

#include <gnnbench/error.hpp>

namespace gnnbench::simulation {

double Curve::rate(double bytes) const {
    require(!empty(), "a curve has points");
    if (bytes <= points.front().bytes) return points.front().value;
    if (bytes >= points.back().bytes) return points.back().value;
    const auto after = std::ranges::upper_bound(points, bytes, {}, &Point::bytes);
    const Point &a = after[-1], &b = *after;
    return a.value * std::pow(b.value / a.value, std::log(bytes / a.bytes) / std::log(b.bytes / a.bytes));
}

double Curve::seconds(double bytes) const {
    const double within = rate(bytes);
    return bytes > points.back().bytes ? within * bytes / points.back().bytes : within;
}

}  // namespace gnnbench::simulation
