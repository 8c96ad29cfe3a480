#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/layer.hpp>
#include <gnnbench/training/stated_memory.hpp>

namespace gnnbench {

/// The model's initial weights, functions of (seed, matrix, row, column) and so the same on every rank; biases are 0.
///   glorot   uniform in ±√(6 / (f + g))   (Glorot & Bengio 2010)
///   kaiming  uniform in ±√(6 / f)         (He et al. 2015, gain √2)
ModelWeights initial_weights(const ModelSpec& model, std::uint64_t seed);

/// Matrices of a model's names and shapes, all 0.
ModelWeights zero_weights(const ModelSpec& model);

/// Elements of all of a model's parameters.
std::int64_t parameter_elements(const ModelSpec& model);

/// Throws DataError unless `given` has the model's matrices, in their order and shapes.
void check_weights(const ModelWeights& given, const ModelSpec& model);

/// All parameters of a network's layers on one device, with gradients and optimizer state; those of a layer are
/// contiguous, so that one all-reduce sums its gradients.
class ReplicatedParameters {
public:
    ReplicatedParameters(const ModelSpec& model, const TrainSpec& train, const ModelWeights& initial,
                         Backend& backend);

    /// The parameters of one of layers_of(model).
    LayerParameters values(int layer) const { return of_layer(values_, layer); }
    LayerParameters gradients(int layer) const { return of_layer(gradients_, layer); }
    /// All gradients of a layer as one row.
    MatrixView gradient_row(int layer) const;
    /// All of them as one row: what ranks average.
    MatrixView all_values() const { return values_; }
    MatrixView all_gradients() const { return gradients_; }
    static void state_memory(MemoryStatement& m, const ModelSpec& model, const TrainSpec& train);

    /// One optimizer step over all of it.
    void step();

    ModelWeights weights() const { return download(values_); }
    ModelWeights gradients() const { return download(gradients_); }
    Moments moments() const;

private:
    /// A matrix and where it begins in a slab.
    struct Placed {
        ParameterSpec spec;
        std::int64_t start;
    };
    LayerParameters of_layer(const Matrix& slab, int layer) const;
    MatrixView view(const Matrix& slab, const Placed& p) const;
    ModelWeights download(const Matrix& slab) const;

    TrainSpec train_;
    Backend& backend_;
    std::vector<std::vector<Placed>> layers_;
    std::int64_t elements_ = 0;
    Matrix values_, gradients_, first_moments_, second_moments_;
    std::int64_t step_ = 0;
};

}  // namespace gnnbench
