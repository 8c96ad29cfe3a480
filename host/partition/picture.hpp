#pragma once
#include <string>

#include "partition/measure.hpp"

namespace gnnbench {

/// An SVG of who talks to whom: a matrix with a row for each sending part and a column for each receiving one, darker
/// where more rows are sent, with the volume that each part sends at its right and what each receives above it.
/// `cost` has rows_between. `title`: what was partitioned by what.
std::string picture(const PartitionCost& cost, const std::string& title);

}  // namespace gnnbench
