#pragma once
#include <string>

#include "run/due.hpp"

namespace gnnbench {

/// What a sweep did, in one line: "12 trials run (1 failed); 24 trials there already; 2 cells skipped". Of one that ended
/// before it was through: "5 of 12 trials run".
std::string sweep_text(const SweepReport& report);

}  // namespace gnnbench
