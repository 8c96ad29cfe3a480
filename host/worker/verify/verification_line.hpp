#pragma once
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "worker/verify/late_step.hpp"
#include "worker/records.hpp"
#include "worker/verify/verified_training.hpp"

namespace gnnbench {

/// What a verification's line says besides what its trainings found.
struct VerificationFacts {
    std::string approximation;          ///< empty: the scheme is exact
    std::int64_t sampled_vertices = 0;  ///< 0: the whole graph
    std::string float64_kernel;         ///< that computed the float64 run
    double probe_s = 0;                 ///< of the products of full size
    bool in_virtual_time = false;       ///< its ranks were simulated
};

/// The verdict on a verification: failed by any fault; else verified, unless the scheme is approximate or the training
/// ill-conditioned.
VerificationLine line_of(const VerifiedTraining& v, const VerificationFacts& facts);
/// The verdict on the step after a measured trial of `epochs`.
VerificationLine line_of(const LateStep& late, std::int64_t epochs);

}  // namespace gnnbench
