#pragma once
#include <functional>
#include <memory>
#include <string>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

#include "check/ledger.hpp"
#include "plugin/loader.hpp"
#include "worker/verify/verified_training.hpp"

namespace gnnbench {

/// A training whose measured epochs are over, of an exact strategy.
struct EndedTraining {
    const Problem& problem;
    const ProcessGroup& group;
    const PluginCatalog& catalog;
    DType dtype = DType::f32;
    std::int64_t epochs = 0;  ///< that the trainer has trained
    /// Whether the graph is within the reference's limits; the same on all ranks.
    bool reference_fits = true;
    /// Ends the trainer that was checked, then makes another one that starts from these weights. Collective.
    std::function<std::unique_ptr<CollectiveTrainer>(const ModelWeights&)> rebuild;
};

/// What a late step was compared with.
enum class LateStandard : std::uint8_t {
    reference,  ///< `serial` in float64, from the weights that the training ended with
    rebuilt,    ///< the same strategy on the same back end, in the first step of its life
    none,       ///< trained features are not among the weights, so nothing else can start from them
};
const char* to_text(LateStandard standard);

/// What one step after the last found.
struct LateStep {
    VerifiedTraining found;
    LateStandard standard = LateStandard::none;
    double wall_s = 0;
};

/// Trains one epoch more, on the very trainer that was measured, and judges it: its loss and gradients (check
/// "late-step"), the update by the optimizer from the weights and moments before it (check "late-update"), and the
/// evaluation after it ("logits", "score"). Everything is read from the trainer, outside of any timed epoch, so that
/// measuring needs no decorator. Collective; afterwards `trainer` may be gone.
///
/// A converged training's loss and gradients cancel: softmax − onehot in float32 has no digits left. So 16 times what
/// `serial` in float32 differs from `serial` in float64 is allowed too, and what random roundings of all verbs of `serial`
/// do where a difference exceeds that and 1e-2.
LateStep check_late_step(const EndedTraining& training, CollectiveTrainer& trainer);

}  // namespace gnnbench
