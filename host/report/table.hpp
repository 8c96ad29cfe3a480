#pragma once
#include <string>

#include "record/comparison.hpp"
#include "report/table_render.hpp"

namespace gnnbench {

/// The comparison of an experiment's schemes: rows dataset × gpus × partitioner, a group of columns for each
/// scheme. As data a row for each cell, times in seconds and sizes in bytes.
Table comparison_table(const ComparisonData& data);

inline std::string render_comparison(const ComparisonData& data, OutputFormat format) {
    return render(comparison_table(data), format);
}

}  // namespace gnnbench
