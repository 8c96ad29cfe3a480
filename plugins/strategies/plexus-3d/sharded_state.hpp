#pragma once
#include <memory>
#include <vector>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/sharded_loss.hpp>
#include <gnnbench/usize.hpp>

#include "layout.hpp"
#include "rank_data.hpp"
#include "sharded_adjacency.hpp"
#include "sharded_parameters.hpp"
#include "sparse_rows.hpp"
#include "stated_volume.hpp"
#include "tuned_product.hpp"

namespace gnnbench::plexus {

/// A trainer's state: shards, buffers, and the gathering of matrices into them.
///
///   h(l)   [n_d × f_i]  H, then dH in its place; layer 0's stays where it was aggregated at set-up
///   q(l)   [n_d × g_o]  Q, F of layer l + 1, then dQ
///   f(l)                F of layer l ≥ 1: q(l − 1), or, where its rows come one by one, a compact matrix
///   panel  [n_o × f_i]  of the widest layer: layer 0's gathered F, then dF of any
///   gathered, dw        W and bias of the largest layer, and their gradient before it is reduced
class ShardedState {
public:
    ShardedState(const Problem& problem, Rank rank, const Layout& layout, const VertexBlocks& vertices,
                 const SparsePlan& sparse, const Options& options, const EpochKind& kind);

protected:
    enum class Pass { training, evaluation };

    int last() const { return layout_.layers() - 1; }
    Communicator& along(Axis a) { return grid_.along(a); }
    MatrixView h(int l) const { return h_[usize(l)]; }
    /// H as W multiplies it in training: layer 0's with its dropout where it was aggregated at set-up.
    MatrixView multiplied_h(int l) const { return l == 0 && dropped_h_.rows() > 0 ? dropped_h_.view() : h(l); }
    MatrixView q(int l) const { return q_[usize(l)]; }
    MatrixView f(int l) const { return exchange(l) ? compact_f_[usize(l)].view() : q(l - 1); }
    /// No other rank has a part of layer l's runs: nothing to gather, nothing to scatter.
    bool one_run(int l) const { return layout_.extent(layout_.layer(l).roles.d) == 1; }
    /// Where layer l's Aᵀ dH goes.
    MatrixView df(int l) const { return l == 0 && one_run(0) ? feature_gradient_.view() : panel(l); }
    MatrixView panel(int l) const { return panel_.view().reshaped(rows_of_f(l), layout_.layer(l).f_i); }
    /// The exchange of layer l's F; nullptr where it is whole.
    RowExchange* exchange(int l) const { return exchanges_[usize(l)].get(); }
    /// The rows of q(l) that this rank owns of an even cut along the layer's i.
    MatrixView own_rows(int l) const { return q(l).rows_from(first_own_row(l), row_counts(l)[own_place(l)]); }
    std::int64_t first_own_row(int l) const;
    std::vector<std::int64_t> row_counts(int l) const;
    void wait(const Event& e) { backend_.wait(StreamRole::compute, e); }

    /// Layer 0's F [n_o × f_i] from the shards along d, with its dropout. If nothing must be gathered or
    /// dropped, the shard itself.
    MatrixView gathered_features(Pass pass, std::int64_t epoch);
    /// Layer l's W and bias from the runs along d; where there is but one, the run itself. Valid until the next
    /// call.
    struct Gathered {
        MatrixView weight, bias;
    };
    Gathered gathered_weights(int l);
    /// The buffer of layer l's dW and db before they are reduced.
    Gathered weight_gradient(int l);
    /// Starts reducing them to the runs along d; the epoch's last is reduced when it returns.
    Event scatter_gradient(int l);

    /// The epilogue of the rows of layer l's Q from `first` on: σ except in the last layer, then the next
    /// one's dropout.
    Epilogue epilogue(int l, Pass pass, std::int64_t epoch, std::int64_t first = 0) const;
    Epilogue input_dropout(Pass pass, std::int64_t epoch) const;
    /// Layer 0's H, aggregated at set-up, as this pass multiplies it.
    MatrixView dropped_aggregate(Pass pass, std::int64_t epoch);
    /// F as one more trainable array, if it is one.
    std::vector<ParameterSlot> feature_slots() const;

    const Problem problem_;
    const Layout layout_;
    const EpochKind kind_;
    Backend& backend_;
    ProcessGrid grid_;
    std::unique_ptr<SharedReader> together_;  ///< while the data is read, if ranks read together
    RankData data_;
    ShardedAdjacency adjacency_;
    ShardedParameters parameters_;
    TunedProduct products_;
    std::vector<Matrix> h_, q_, compact_f_;
    Matrix dropped_h_;  ///< layer 0's [n_d × f_i], with input dropout after an aggregation at set-up
    std::vector<std::unique_ptr<RowExchange>> exchanges_;  ///< per layer
    Matrix panel_, gathered_, dw_;
    Matrix feature_gradient_, feature_first_moment_, feature_second_moment_;
    ShardedLoss loss_;

private:
    std::size_t own_place(int l) const { return usize(layout_.at(layout_.layer(l).roles.i)); }
    void allocate(const SparsePlan& sparse);
    std::int64_t rows_of_f(int l) const { return exchange(l) ? f(l).rows : layout_.layer(l).n_o; }
    Gathered parts(int l, MatrixView column) const;
    DropoutMask mask(int layer, Pass pass, std::int64_t epoch, std::int64_t first_column) const;
};

}  // namespace gnnbench::plexus
