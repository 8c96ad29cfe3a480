#pragma once
#include <string>
#include <vector>

#include "record/verifications.hpp"
#include "run/prepare.hpp"
#include "run/progress.hpp"

namespace gnnbench {

struct VerificationResult {
    std::vector<VerificationRow> rows;  ///< of each combination that was reached
    bool all_well = true;
    bool interrupted = false;
};

/// Verifies every combination of an experiment's cells once, whatever earlier results say. `where`: as PlanRules::where.
VerificationResult verify_experiment(const ExperimentChoice& choice, const std::string& where,
                                     const RunPlaces& places, Progress& progress);

}  // namespace gnnbench
