#pragma once
#include <span>
#include <vector>

#include <gnnbench/communicator.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/usize.hpp>

#include "layout.hpp"

namespace gnnbench::plexus {

/// Layer l's W [f_i × g_o] with the bias as its last row, cut in even runs of elements over the ranks along d;
/// with gradients and optimizer state cut alike. The bias is the same on all ranks along i.
class ShardedParameters {
public:
    ShardedParameters(const Layout& layout, const ModelSpec& model, const TrainSpec& train,
                      const ModelWeights& initial, Backend& backend);

    /// This rank's run of layer l, [elements × 1].
    MatrixView weight_shard(int l) const { return shard(weights_, l); }
    MatrixView gradient_shard(int l) const { return shard(gradients_, l); }
    /// Elements of every run, by coordinate along d.
    std::span<const std::int64_t> counts(int l) const { return counts_[usize(l)]; }

    /// One optimizer step over all runs, and over `more`.
    void step(std::span<const ParameterSlot> more);

    /// Whole matrices on every rank; of biases that several ranks hold, the rank's own copy.
    ModelWeights weights(Communicator& world) const { return assembled(weights_, world); }
    ModelWeights gradients(Communicator& world) const { return assembled(gradients_, world); }
    Moments moments(Communicator& world) const;

private:
    MatrixView shard(const Matrix& slab, int l) const;
    ModelWeights assembled(const Matrix& slab, Communicator& world) const;

    const Layout& layout_;
    ModelSpec model_;
    TrainSpec train_;
    Backend& backend_;
    std::vector<std::int64_t> start_;                ///< of each layer in a slab; length layers + 1
    std::vector<std::vector<std::int64_t>> counts_;  ///< per layer
    std::vector<std::int64_t> decayed_;              ///< per layer: leading elements of the run that belong to W
    Matrix weights_, gradients_, first_moments_, second_moments_;
    std::int64_t step_ = 0;
};

}  // namespace gnnbench::plexus
