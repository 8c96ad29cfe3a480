#pragma once
#include <string>
#include <vector>

#include "record/comparison.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {

/// Remarks on a cell's number of this kind: how it was verified, oversubscription, synthetic data, a
/// paper's shortcut, why it failed …
std::vector<std::string> remarks_on(const ComparisonCell& cell, MetricKind kind = MetricKind::time);

/// Details that are not shown beside a number: on how many vertices it was verified, the effect of rounding in float32
/// there. Only the data formats of a table have them.
std::vector<std::string> provenance_of(const ComparisonCell& cell);

/// "OOM", "skipped" … instead of a number; empty for a cell with a number, or never measured.
std::string status_word(const ComparisonCell& cell);

}  // namespace gnnbench
