#include "energy/window.hpp"

#include <cmath>

#include <fmt/format.h>

namespace gnnbench {

std::string why_too_coarse(const EnergyWindow& w, double update_s) {
    const double least_s = 10 * update_s * std::sqrt(static_cast<double>(w.windows));
    if (w.seconds < least_s)
        return fmt::format(
            "too short: {:.3g} s in {} window{}, where a counter that is renewed each {:g} ms needs "
            "{:.3g} s",
            w.seconds, w.windows, w.windows == 1 ? "" : "s", 1e3 * update_s, least_s);
    if (w.joules <= 0) return fmt::format("the counters stood still for {:.3g} s", w.seconds);
    return {};
}

}  // namespace gnnbench
