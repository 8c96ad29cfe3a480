#pragma once
#include <cstdint>
#include <string>

namespace gnnbench {

/// The energy of the time between two readings, or of several such times together.
struct EnergyWindow {
    double seconds = 0, joules = 0;
    std::int64_t windows = 1;  ///< of which it is the sum
};

/// Why a window's energy is not worth showing; empty: it is.
///
/// A reading is up to one update of its counter old. So one window is off by u/√6 seconds of its power on average, and n of
/// them by u·√(n/6), because the errors of windows are independent. Windows that together last 10·u·√n are off by 4%.
std::string why_too_coarse(const EnergyWindow& window, double update_s);

}  // namespace gnnbench
