#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/kernel.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/strategy.hpp>

namespace gnnbench {

/// The model's initial weights, functions of (seed, layer, row, column) and so the same on every rank; biases are 0.
///   glorot   uniform in ±√(6 / (f + g))   (Glorot & Bengio 2010)
///   kaiming  uniform in ±√(6 / f)         (He et al. 2015, gain √2)
ModelWeights initial_weights(const ModelSpec& model, std::uint64_t seed);

/// All weights and biases of a model on every rank, with gradients and optimizer state. Layer l's weight
/// [f × g] and bias [1 × g] are contiguous, so that one all-reduce sums both.
class ReplicatedParameters {
public:
    ReplicatedParameters(const ModelSpec& model, const TrainSpec& train, const ModelWeights& initial,
                         Kernel& kernel);

    MatrixView weight(int layer) const { return weight_of(weights_, layer); }
    MatrixView weight_gradient(int layer) const { return weight_of(gradients_, layer); }
    /// Empty views where the model has no bias.
    MatrixView bias(int layer) const { return bias_of(weights_, layer); }
    MatrixView bias_gradient(int layer) const { return bias_of(gradients_, layer); }
    /// Weight and bias gradient of a layer as one row.
    MatrixView gradient(int layer) const;
    /// Elements of gradient(layer): f·g, and g more with a bias.
    static std::int64_t layer_elements(const ModelSpec& model, int layer);
    static void state_memory(MemoryStatement& m, const ModelSpec& model, const TrainSpec& train);

    /// One optimizer step over all of it.
    void step();

    ModelWeights weights() const { return download(weights_); }
    ModelWeights gradients() const { return download(gradients_); }

private:
    MatrixView weight_of(const Matrix& slab, int layer) const;
    MatrixView bias_of(const Matrix& slab, int layer) const;
    ModelWeights download(const Matrix& slab) const;

    ModelSpec model_;
    TrainSpec train_;
    Kernel& kernel_;
    std::vector<std::int64_t> start_;  ///< of each layer in a slab; length layers + 1
    Matrix weights_, gradients_, first_moments_, second_moments_;
    std::int64_t step_ = 0;
};

}  // namespace gnnbench
