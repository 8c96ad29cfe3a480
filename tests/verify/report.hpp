#pragma once
#include <string>
#include <vector>

#include "verify/findings.hpp"

namespace gnnbench::verify {

/// All launches as one page of Markdown: provenance, a row for each graph and strategy, what did not run and why,
/// what each number of ranks took, every disagreement.
std::string render_report(const std::vector<LaunchFindings>& launches);

/// How many cells disagreed.
std::int64_t count_problems(const std::vector<LaunchFindings>& launches);

}  // namespace gnnbench::verify
