#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>

/// The loss and the score that follow from a dataset's labels, where a rank holds whole rows of the logits. Of one
/// label a vertex: softmax cross-entropy and accuracy; of a label matrix: binary cross-entropy and micro-F1.

namespace gnnbench {

/// grad ← the loss' gradient (may alias logits), loss (one float64, device) ← this rank's part of it.
void loss_and_gradient(Backend& backend, ConstMatrixView logits, const LossInput& in, MatrixView grad,
                       double* loss);

/// Numbers that a score is computed from: of each split correct and total vertices; or true positives, false
/// positives and false negatives.
constexpr std::int64_t score_counts(bool multi_label) { return multi_label ? 9 : 6; }

/// The counts of these rows, by way of `counts` [score_counts] on the device; as float64, so that one all-reduce of
/// scalars adds them up.
std::vector<double> count_score(Backend& backend, ConstMatrixView logits, const LossInput& in,
                                std::int64_t* counts);

/// From counts over the whole graph.
Score score_of(bool multi_label, std::span<const double> counts);

}  // namespace gnnbench
