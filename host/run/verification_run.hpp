#pragma once
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

/// Verifies every combination of an experiment once, whatever earlier results say.
VerificationResult verify_experiment(const ExperimentChoice& choice, const RunPlaces& places, Progress& progress);

}  // namespace gnnbench
