#pragma once
#include <string>

namespace gnnbench {

/// Runs a gnuplot script that draws to its `set output`, which this sets before it; what was drawn. Throws
/// EnvironmentError where there is no gnuplot (GNNBENCH_GNUPLOT names one, else PATH), or where it complains.
std::string run_gnuplot(const std::string& script);

}  // namespace gnnbench
