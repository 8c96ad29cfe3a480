#include "report/units.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gnnbench {

Unit time_unit(double largest_s) {
    if (largest_s >= 10) return {"s", 1};
    if (largest_s >= 1e-3) return {"ms", 1e-3};
    return {"µs", 1e-6};
}

Unit byte_unit(double largest) {
    if (largest >= 1e12) return {"TB", 1e12};
    if (largest >= 1e9) return {"GB", 1e9};
    if (largest >= 1e6) return {"MB", 1e6};
    if (largest >= 1e3) return {"kB", 1e3};
    return {"B", 1};
}

int decimals_of(double x) {
    x = std::abs(x);
    if (x > 0 && x < 0.0995) return 1 - static_cast<int>(std::floor(std::log10(x * 1.005)));
    return x >= 99.95 ? 0 : x >= 9.995 ? 1 : x >= 0.9995 ? 2 : 3;
}

std::string fixed(double x, int decimals) { return fmt::format("{:.{}f}", x, decimals); }

std::string three_digits(double x) {
    if (std::abs(x) >= 1e9) return fmt::format("{:.2e}", x);  // nobody counts such digits
    if (x != 0 && std::abs(x) < 1e-6) return fmt::format("{:.1e}", x);
    return x == 0 ? "0" : fixed(x, decimals_of(x));
}

std::string interval(double low, double high) { return three_digits(low) + "–" + three_digits(high); }

std::string in_unit(double bytes, const Unit& unit) {
    return unit.size == 1 ? fixed(bytes, 0) : three_digits(bytes / unit.size);
}

std::string ratio(double x) {
    return x != 0 && std::abs(x) < 0.00995 ? three_digits(x) : fixed(x, std::min(decimals_of(x), 2));
}

}  // namespace gnnbench
