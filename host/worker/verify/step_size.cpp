#include "worker/verify/step_size.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/training/parameters.hpp>

namespace gnnbench {
namespace {

/// What is known once an epoch was trained: how far a step moves the weights, beside their norm.
double first_movement(const ReferenceResult& r, double weights) {
    return r.learning_rate * norm(r.gradient.at(0)) / weights;
}

ReferenceResult train(const PluginCatalog& catalog, const ReferenceTraining& training, double rate,
                      const KeepTraining& keep) {
    TrainSpec stepping = training.train;
    stepping.learning_rate = rate;
    return compute_reference(catalog,
                             {.data = training.data,
                              .model = training.model,
                              .train = stepping,
                              .initial = training.initial,
                              .epochs = training.epochs,
                              .trained_features = training.trained_features},
                             keep);
}

/// Losses as if each epoch had the masks of the first: beside those of the weights that training starts from.
/// `unmoved`: the latter's; empty: without dropout, all are the first.
std::vector<double> without_masks(std::vector<double> loss, const std::vector<double>& unmoved) {
    if (unmoved.empty()) return loss;
    for (std::size_t e = 0; e < loss.size(); ++e)
        if (loss[e] != unmoved[e]) loss[e] *= unmoved[0] / unmoved[e];
    return loss;
}

/// The first epoch of it, which no step has touched.
ReferenceResult untame(ReferenceResult r, std::string why) {
    r.loss.resize(1);
    r.gradient.resize(1);
    r.scale.resize(1);
    r.untame = std::move(why);
    return r;
}

}  // namespace

bool is_tame(std::span<const double> loss) {
    for (std::size_t e = 0; e < loss.size(); ++e) {
        if (!std::isfinite(loss[e]) || loss[e] > 2 * loss[0]) return false;
        if (e > 0 && (loss[e] > 4 * loss[e - 1] || loss[e - 1] > 4 * loss[e])) return false;
    }
    return true;
}

ReferenceResult tame_reference(const PluginCatalog& catalog, const ReferenceTraining& training) {
    const double given =
        norm(training.initial ? *training.initial : initial_weights(training.model, training.train.seed));
    const double weights = given > 0 ? given : 1;
    const double largest = training.train.learning_rate;
    const bool drops = has_dropout(training.model, training.train);
    std::vector<double> unmoved;
    const auto steady = [&](const ReferenceResult& r) { return is_tame(without_masks(r.loss, unmoved)); };
    for (double rate = largest;; rate /= 2) {
        ReferenceResult r = train(catalog, training, rate, [&](const ReferenceResult& so_far) {
            return steady(so_far) && first_movement(so_far, weights) <= 1;
        });
        const bool whole = std::ssize(r.loss) == training.epochs && steady(r);
        if (whole && (r.moved >= least_movement || rate == largest)) return r;
        if (drops && unmoved.empty()) {
            unmoved = train(catalog, training, 0, {}).loss;
            rate *= 2;  // the same one again
            continue;
        }
        const double first = first_movement(r, weights), epochs = static_cast<double>(training.epochs);
        if (!std::isfinite(first))
            return untame(std::move(r), "the float64 reference's first gradient is not finite");
        while (rate * norm(r.gradient[0]) > 2 * weights) rate /= 2;  // the next one is not above 1
        if (whole || first / 2 * epochs < least_movement) {
            std::string why = fmt::format(
                "no step from {} down moves the weights by {:.0e} of their norm in {} epochs while the "
                "float64 reference's loss stays finite and even; the last one tried, {:.2g}, moves them "
                "by {:.1e} at first",
                largest, least_movement, training.epochs, r.learning_rate, first);
            return untame(std::move(r), std::move(why));
        }
    }
}

}  // namespace gnnbench
