#pragma once
#include <string>

#include "record/compare.hpp"
#include "report/format.hpp"

namespace gnnbench {

/// The cells of a comparison with their verdicts. CSV and JSON have seconds, bytes and plain numbers.
std::string render_compared(const ComparedSides& sides, OutputFormat format);

}  // namespace gnnbench
