#pragma once
#include <array>
#include <functional>
#include <optional>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

#include "check/ledger.hpp"
#include "plugin/loader.hpp"
#include "worker/verify/verification.hpp"

namespace gnnbench {

/// Logits in the order of vertices, [vertices × classes] both.
struct BoundedLogits {
    HostMatrix value;
    HostMatrix bound;  ///< how far rounding may move each
    /// How far rounding moved all of them, relative to their norm, where the bounds alone tell nothing.
    std::optional<double> response{};
    bool has_bounds = true;  ///< false: of attention, whose softmax multiplies errors, only the response is known
};

/// The logits that weights have on the whole graph, in float64 by `serial`, and their bounds in `dtype`. Bounds hold for
/// roundings that all have the same sign; unnormalised sums over several layers may have bounds beyond the logits. Then
/// `response` is the largest of several passes whose verbs are moved at random, as in worker/verify/conditioning.hpp.
BoundedLogits reference_logits(const PluginCatalog& catalog, const ReferenceTraining& training,
                               const ModelWeights& weights, DType dtype);

/// The least and the largest score of each split, NaN where a split has none.
struct ScoreRange {
    ScoreMetric metric = ScoreMetric::accuracy;
    std::array<double, 3> low{}, high{};
};
/// What logits within their bounds may score: a vertex is uncertain where its label's logit and the best other one are
/// within both bounds of each other; of a label matrix each label is, whose logit is within its bound of 0.
ScoreRange score_range(const BoundedLogits& logits, const DatasetView& data);

/// On rank 0: what the run's own weights give in float64. Unset where weights alone do not decide the logits, as with
/// trained features.
using ReferenceLogits = std::function<BoundedLogits(const ModelWeights&)>;

/// Evaluates once more on every rank, and judges what the trainer says: its logits against the reference's (check
/// "logits"), its score against those of its own logits (check "score"), exactly where a pass before and one after the
/// evaluation give the same bits. Whatever its weights are, they are the ones judged, so nothing that training did
/// differently counts here. Collective.
void check_evaluation(const DatasetView& data, const ProcessGroup& group, DType dtype, Trainer& trainer,
                      const ReferenceLogits& reference, Ledger& ledger);

}  // namespace gnnbench
