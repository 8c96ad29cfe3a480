#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/strategy.hpp>

#include "worker/request.hpp"
#include "worker/workload.hpp"

namespace gnnbench {

/// What an epoch's gradients are summed up from: ‖|H|ᵀ|U|‖_F of each weight gradient Hᵀ U, ‖Σ|g|‖ of each bias
/// gradient. Where a gradient cancels, rounding errors are small beside these and not beside it.
using GradientScale = std::vector<double>;  ///< in the order of ModelWeights::matrices

/// The result of the serial float64 reference: loss and gradients of each epoch.
struct ReferenceResult {
    std::vector<double> loss;
    std::vector<ModelWeights> gradient;
    std::vector<GradientScale> scale;  ///< as many, or none: then nothing cancels
    double learning_rate = 0;          ///< of its steps
    double moved = 0;                  ///< ‖w_end − w_0‖ / ‖w_0‖ over all weights
    /// Why no step is tame (worker/verify/step_size.hpp); then there is one epoch, which needs none. Else empty.
    std::string untame = {};
};

/// The training that is the reference of another.
struct ReferenceTraining {
    const DatasetView& data;
    const ModelSpec& model;
    const TrainSpec& train;
    const ModelWeights* initial = nullptr;  ///< else drawn from the seed
    std::int64_t epochs = 0;
    bool trained_features = false;
};

/// Asked after each epoch, with the epochs so far: whether to train another.
using KeepTraining = std::function<bool(const ReferenceResult&)>;

/// Threads for what one rank computes while the others wait: all cores of this process.
int lone_threads();
/// The `reference` back end with so many.
std::unique_ptr<Backend> lone_reference(const PluginCatalog& catalog, DType dtype = DType::f64);

/// Trains `serial` on the `reference` back end in float64, in this process alone.
ReferenceResult compute_reference(const PluginCatalog& catalog, const ReferenceTraining& training,
                                  const KeepTraining& keep = {});

/// A digest of everything that the reference depends on: model, training, and of the dataset its own digest.
std::string reference_key(const std::string& dataset_digest, const ReferenceTraining& training);

/// tame_reference (worker/verify/step_size.hpp), cached in a folder under its reference_key. An empty folder name disables the
/// cache.
ReferenceResult cached_reference(const std::string& folder, const std::string& dataset_digest,
                                 const PluginCatalog& catalog, const ReferenceTraining& training);

/// The largest errors over epochs and matrices, and their tolerances.
struct Agreement {
    double loss_error = 0;      ///< |loss − ref| / max(|ref|, 1e-30)
    double gradient_error = 0;  ///< ‖g − ref‖_F / ‖ref‖_F; 0 where both are 0
    double tolerance = 0;       ///< of both
    double floor = 0;   ///< ‖g − ref‖_F below this times its GradientScale is agreement whatever ‖ref‖_F is
    std::string worst;  ///< where the largest gradient error is: "epoch 3, W1"
    bool gradients_agree = true;  ///< each matrix within tolerance or within floor
    bool finite = true;           ///< no loss or gradient is NaN or infinite where the reference is not

    bool holds() const { return loss_error <= tolerance && gradients_agree; }
    /// Whether rounding alone may explain the difference: then every verb must be within its own bounds, the training
    /// in float64 must agree, and the response decides (worker/verify/conditioning.hpp).
    bool may_be_rounding() const { return !holds() && finite; }
    /// Adds one epoch's numbers.
    void compare(std::int64_t epoch, double loss, const ModelWeights& gradient, const ReferenceResult& reference);
};
/// 1e-4 in float32, with u as floor; 1e-10 in float64, with 1,000 u, for there sums may be long.
Agreement agreement_for(DType dtype);
/// ‖a − b‖_F; infinity where shapes differ. NaN stays NaN.
double distance(const HostMatrix& a, const HostMatrix& b);
double norm(const HostMatrix& m);
/// The same over all matrices together.
double distance(const ModelWeights& a, const ModelWeights& b);
double norm(const ModelWeights& w);

/// |loss − ref| / max(|ref|, 1e-30), the largest of all epochs; infinite where a loss is not finite.
double largest_loss_error(std::span<const double> losses, std::span<const double> reference);

/// Training as verification needs it: plain SGD, because Adam hides a wrong scale. Its learning rate is where the search
/// for a tame step begins.
TrainSpec verification_training(TrainSpec train);

/// How many vertices the reference can process within the request's limits; all of them if the graph fits.
std::int64_t verifiable_vertices(const DatasetView& data, const ModelSpec& model, const VerifyRequest& limits);

}  // namespace gnnbench
