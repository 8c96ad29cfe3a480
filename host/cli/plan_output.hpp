#pragma once
#include <optional>
#include <vector>

#include "record/trial_history.hpp"
#include "run/prepare.hpp"
#include "run/program_permission.hpp"

namespace gnnbench {

/// A plan, and what is told beside it; `estimates` and `kept` have an element for each of its cells.
struct ShownPlan {
    const Plan& plan;
    const PreparedExperiment& prepared;
    std::vector<std::optional<TrialHistory::Estimate>> estimates;
    std::vector<std::optional<bool>>
        kept;  ///< whether its partition is kept from an earlier trial; nothing: not known
    std::vector<StartedProgram> programs;  ///< that run starts
};

/// On standard output, a cell a row and below them what holds for all.
void print_text(const ShownPlan& shown);
void print_as_json(const ShownPlan& shown);

}  // namespace gnnbench
