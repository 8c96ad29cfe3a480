#pragma once
#include <string>

namespace gnnbench {

/// Runs a gnuplot script after setting its `set output`, and returns the drawing. Throws
/// EnvironmentError if gnuplot is missing (GNNBENCH_GNUPLOT names one, else PATH), or if it fails.
std::string run_gnuplot(const std::string& script);

}  // namespace gnnbench
