#pragma once
#include <optional>

#include "worker/verify/verified_training.hpp"

namespace gnnbench {

/// A case as every rank trains it: the reference, which rank 0 alone has to begin with, its step size and its number of
/// epochs.
class SteppedCase {
public:
    /// Collective. `known`: the reference on rank 0, or null if there is none to step by.
    SteppedCase(const VerificationCase& c, const ReferenceResult* known);
    SteppedCase(const SteppedCase&) = delete;
    SteppedCase& operator=(const SteppedCase&) = delete;

    const VerificationCase& get() const { return case_; }
    /// On every rank; null if rank 0 has none.
    const ReferenceResult* reference() const { return reference_ ? &*reference_ : nullptr; }

private:
    std::optional<ReferenceResult> reference_;
    TrainSpec train_;
    Problem problem_;
    VerificationCase case_;
};

}  // namespace gnnbench
