#pragma once
#include <string>
#include <vector>

#include "record/comparison.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {

/// What is to be known of a cell's number of this kind: how it was verified, oversubscription, synthetic data, a
/// paper's shortcut, why it failed …
std::vector<std::string> remarks_on(const ComparisonCell& cell, MetricKind kind = MetricKind::time);

/// "OOM", "skipped" … in place of a number; empty for a cell with one, or never measured.
std::string status_word(const ComparisonCell& cell);

}  // namespace gnnbench
