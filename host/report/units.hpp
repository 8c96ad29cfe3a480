#pragma once
#include <string>
#include <string_view>

namespace gnnbench {

/// One unit for a whole table, so that its numbers can be compared by eye.
struct Unit {
    std::string_view name;
    double size = 1;  ///< in seconds, or in bytes
};
/// Unit for times up to `largest_s`: s, ms or µs.
Unit time_unit(double largest_s);
/// Unit for sizes up to `largest_bytes`: B, kB, MB, GB or TB (powers of 1000).
Unit byte_unit(double largest_bytes);

/// Decimals that show three significant digits of x ≥ 1, and two of less.
int decimals_of(double x);
std::string fixed(double x, int decimals);
/// Three significant digits: "1234", "123", "12.3", "1.23", "0.012"; zero is "0", and what has ten digits "4.62e+19".
std::string three_digits(double x);
/// "40.1–42.3"
std::string interval(double low, double high);
/// In the unit, without its name; whole numbers of bytes.
std::string in_unit(double bytes, const Unit& unit);
/// "1.86", "0.93", "12.3", "123"
std::string ratio(double x);

}  // namespace gnnbench
