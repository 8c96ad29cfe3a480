#include "report/scaling.hpp"

#include <cmath>

namespace gnnbench {

double efficiency(double speed_up, double times_devices) { return speed_up / times_devices; }

std::optional<double> karp_flatt(double speed_up, double times_devices) {
    if (times_devices <= 1 || speed_up <= 0) return std::nullopt;
    return (1 / speed_up - 1 / times_devices) / (1 - 1 / times_devices);
}

Crossover crossover(std::span<const CurvePoint> points) {
    Crossover c;
    if (points.size() < 2) return c;
    using Kind = Crossover::Kind;
    // Difference of logarithms: > 0 where ours is higher.
    const auto difference = [&](std::size_t i) { return std::log(points[i].ours / points[i].other); };
    std::optional<std::size_t> last;  // that differs
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double d = difference(i);
        if (d == 0) continue;
        if (!last) c.kind = d > 0 ? Kind::never : Kind::always;
        if (last && (d > 0) != (difference(*last) > 0) && c.times++ == 0) {
            c.kind = d > 0 ? Kind::falls_behind : Kind::overtakes;
            c.before = *last;
            c.after = i;
            if (i - *last > 1) {  // equal in between
                c.before = c.after = *last + 1;
                c.at = points[c.before].x;
            } else {
                const double t = difference(*last) / (difference(*last) - d), from = std::log(points[*last].x);
                c.at = std::exp(from + t * (std::log(points[i].x) - from));
                c.interpolated = true;
            }
        }
        last = i;
    }
    return c;
}

std::optional<double> payback_epochs(double extra_s, double saved_s) {
    if (saved_s <= 0) return std::nullopt;
    return extra_s <= 0 ? 0 : extra_s / saved_s;
}

}  // namespace gnnbench
