#include "sharded_state.hpp"

#include <algorithm>
#include <utility>

#include <gnnbench/training/parameters.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::plexus {

namespace {

/// [Sec 5.4] Null where each rank reads for itself.
std::unique_ptr<SharedReader> shared_reader(const Problem& problem, const Rank& rank,
                                            const VertexBlocks& vertices) {
    if (!reads_together(problem, vertices) || problem.shared || !rank.backend.holds_values()) return nullptr;
    auto ranks = rank.processes.host_transport();
    return ranks ? std::make_unique<SharedReader>(problem, std::move(ranks)) : nullptr;
}

}  // namespace

ShardedState::ShardedState(const Problem& problem, Rank rank, const Layout& layout, const VertexBlocks& vertices,
                           const SparsePlan& sparse, const Options& options, const EpochKind& kind)
    : problem_(problem),
      layout_(layout),
      kind_(kind),
      backend_(rank.backend),
      grid_(rank.world, layout.grid()),
      together_(shared_reader(problem, rank, vertices)),
      data_(problem, vertices, layout, together_.get(), backend_),
      adjacency_(problem, vertices, layout, sparse, options, together_.get(), backend_),
      parameters_(layout_, problem.model, problem.train, *first_weights_of(problem), backend_),
      products_(layout, options.tune, backend_),
      loss_(backend_, grid_.along(layout.layer(last()).roles.o), grid_.plane(layout.layer(last()).roles.i),
            layout.layer(last()).n_d, problem.model.widths.back(), problem.dataset.multi_label()) {
    together_.reset();
    allocate(sparse);
}

void ShardedState::allocate(const SparsePlan& sparse) {
    std::int64_t panel = 0, weights = 0;
    for (int l = 0; l <= last(); ++l) {
        const LayerShape& s = layout_.layer(l);
        const SparseRows* rows = sparse.input(l);
        exchanges_.push_back(rows ? std::make_unique<RowExchange>(*rows, s.f_i, backend_) : nullptr);
        compact_f_.push_back(rows ? backend_.matrix(rows->rows(), s.f_i) : Matrix());
        h_.push_back(backend_.matrix(s.n_d, s.f_i));
        q_.push_back(backend_.matrix(s.n_d, s.g_o));
        const bool used_in_place = l == 0 && one_run(0) && !drops_features(problem_, kind_);
        if (!used_in_place) panel = std::max(panel, rows_of_f(l) * s.f_i);
        if (!one_run(l)) weights = std::max(weights, s.parameters());
    }
    if (kind_.aggregated_input && problem_.train.input_dropout > 0)
        dropped_h_ = backend_.matrix(layout_.layer(0).n_d, layout_.layer(0).f_i);
    panel_ = backend_.matrix(panel, 1);
    gathered_ = backend_.matrix(weights, 1);
    dw_ = backend_.matrix(weights, 1);
    if (!kind_.trainable) return;
    const auto like_features = [&] {
        Matrix m = backend_.matrix(data_.features.rows(), data_.features.cols());
        backend_.fill(m, 0);
        return m;
    };
    feature_gradient_ = like_features();
    if (problem_.train.optimizer == OptimizerKind::sgd) return;
    feature_first_moment_ = like_features();
    feature_second_moment_ = like_features();
}

DropoutMask ShardedState::mask(int layer, Pass pass, std::int64_t epoch, std::int64_t first_column) const {
    if (pass == Pass::evaluation) return {};
    DropoutMask m = input_mask(problem_.model, problem_.train, layer, epoch);
    m.first_column = static_cast<std::uint32_t>(first_column);
    return m;
}

std::vector<std::int64_t> ShardedState::row_counts(int l) const {
    return block_sizes(layout_.layer(l).n_d, layout_.extent(layout_.layer(l).roles.i));
}

std::int64_t ShardedState::first_own_row(int l) const {
    const LayerShape& s = layout_.layer(l);
    return block_begin(s.n_d, layout_.extent(s.roles.i), layout_.at(s.roles.i));
}

Epilogue ShardedState::epilogue(int l, Pass pass, std::int64_t epoch, std::int64_t first) const {
    if (l == last()) return {};
    const std::int64_t* ids = data_.output_ids[usize(l)].data();
    return {.activation = problem_.model.activation,
            .dropout = mask(l + 1, pass, epoch, layout_.layer(l).first_g),
            .row_ids = ids ? ids + first : nullptr};
}

Epilogue ShardedState::input_dropout(Pass pass, std::int64_t epoch) const {
    return {.dropout = mask(0, pass, epoch, layout_.layer(0).first_f), .row_ids = data_.feature_ids.data()};
}

MatrixView ShardedState::dropped_aggregate(Pass pass, std::int64_t epoch) {
    const Epilogue dropping = input_dropout(pass, epoch);
    if (dropping.empty()) return h(0);
    backend_.dropout(dropping, h(0), multiplied_h(0));
    return multiplied_h(0);
}

MatrixView ShardedState::gathered_features(Pass pass, std::int64_t epoch) {
    const LayerShape& s = layout_.layer(0);
    const Axis d = s.roles.d;
    const Epilogue dropping = input_dropout(pass, epoch);
    if (one_run(0) && dropping.empty()) return data_.features;
    const MatrixView mine =
        panel(0).rows_from(block_begin(s.n_o, layout_.extent(d), layout_.at(d)), data_.features.rows());
    if (dropping.empty())
        backend_.copy(data_.features, mine);
    else
        backend_.dropout(dropping, data_.features, mine);
    along(d).all_gather_now(panel(0), block_sizes(s.n_o, layout_.extent(d)));
    return panel(0);
}

ShardedState::Gathered ShardedState::parts(int l, MatrixView column) const {
    const LayerShape& s = layout_.layer(l);
    const MatrixView all = column.reshaped(s.parameter_rows(), s.g_o);
    return {.weight = all.rows_from(0, s.f_i), .bias = all.rows_from(s.f_i, s.parameter_rows() - s.f_i)};
}

ShardedState::Gathered ShardedState::gathered_weights(int l) {
    if (one_run(l)) return parts(l, parameters_.weight_shard(l));
    const MatrixView all = gathered_.view().rows_from(0, layout_.layer(l).parameters());
    const MatrixView mine = parameters_.weight_shard(l);
    backend_.copy(mine, all.rows_from(layout_.parameter_begin(l), mine.rows));
    along(layout_.layer(l).roles.d).all_gather_now(all, parameters_.counts(l));
    return parts(l, all);
}

ShardedState::Gathered ShardedState::weight_gradient(int l) {
    return parts(l, one_run(l) ? parameters_.gradient_shard(l) : dw_.view());
}

Event ShardedState::scatter_gradient(int l) {
    if (one_run(l)) return {};
    Communicator& line = along(layout_.layer(l).roles.d);
    const MatrixView all = dw_.view().rows_from(0, layout_.layer(l).parameters()),
                     mine = parameters_.gradient_shard(l);
    const bool more_work = l > 0 || kind_.trainable;  // dH is computed meanwhile
    if (more_work) return line.reduce_scatter(all, mine, parameters_.counts(l));
    line.reduce_scatter_now(all, mine, parameters_.counts(l));
    return {};
}

std::vector<ParameterSlot> ShardedState::feature_slots() const {
    if (!kind_.trainable || data_.features.view().empty()) return {};
    return {{.weight = data_.features.view().data,
             .gradient = feature_gradient_.view().data,
             .first_moment = feature_first_moment_.view().data,
             .second_moment = feature_second_moment_.view().data,
             .count = data_.features.rows() * data_.features.cols(),
             .weight_decay = 0}};
}

}  // namespace gnnbench::plexus
