#pragma once
#include <string>
#include <vector>

#include "record/comparison.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {

/// What is to be known of a cell's number of this kind: how it was verified, oversubscription, synthetic data, a
/// paper's shortcut, why it failed …
std::vector<std::string> remarks_on(const ComparisonCell& cell, MetricKind kind = MetricKind::time);

/// What nobody needs beside a number, but may ask for: on how many vertices it was verified, what float32's rounding did
/// there. Only data forms of a table have it.
std::vector<std::string> provenance_of(const ComparisonCell& cell);

/// "OOM", "skipped" … in place of a number; empty for a cell with one, or never measured.
std::string status_word(const ComparisonCell& cell);

}  // namespace gnnbench
