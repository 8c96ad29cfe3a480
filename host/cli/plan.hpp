#pragma once
#include "cli/options.hpp"
#include "run/prepare.hpp"

namespace gnnbench {

/// What `gnnbench plan` prints, for `run --dry-run` too. Nothing is created.
int show_plan(const ExperimentChoice& experiment, const PlanRules& rules, const GlobalOptions& options);

}  // namespace gnnbench
