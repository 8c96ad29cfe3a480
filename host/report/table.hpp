#pragma once
#include <string>

#include "record/comparison.hpp"
#include "report/format.hpp"

namespace gnnbench {

/// Columns that the text form fits.
inline constexpr std::size_t table_width = 100;

/// The comparison of an experiment's schemes. Text fits 100 columns; CSV and JSON have one row for each cell,
/// times in seconds and sizes in bytes.
std::string render_comparison(const ComparisonData& data, OutputFormat format);

}  // namespace gnnbench
