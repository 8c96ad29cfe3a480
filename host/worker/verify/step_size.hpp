#pragma once
#include "worker/verify/verification.hpp"

namespace gnnbench {

/// The serial float64 reference at a step size at which the training is tame: what is compared must be
/// well-conditioned, and SGD at any fixed rate diverges on some model and graph.
///
/// Tame: every loss is finite and at most twice the first, and each is within 4 times of the one before, up or down.
/// Where dropout alone moves losses by as much, they are compared as if all epochs had the first one's masks: beside the
/// losses that the weights before any step have with each epoch's. The step is halved from the training's own learning
/// rate on until that holds. Steps whose first one would move the weights by more than their norm are not tried: they
/// replace the weights. Nor are steps tried that move them by less than 1e-3 of their norm in all epochs, because a
/// verification whose steps change nothing proves nothing; if no larger one is tame, the result says so
/// (ReferenceResult::untame) and has the first epoch alone.
///
/// A function of the data and the model, not of an experiment's learning rate, so that one verification serves a sweep
/// of rates.
ReferenceResult tame_reference(const PluginCatalog& catalog, const ReferenceTraining& training);

/// Whether these losses, of the first epochs, are tame.
bool is_tame(std::span<const double> loss);

/// Weights must move by as much of their norm.
inline constexpr double least_movement = 1e-3;

}  // namespace gnnbench
