#include "stated_memory.hpp"

#include <algorithm>
#include <set>

#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/sharded_loss.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/usize.hpp>

#include "rank_data.hpp"
#include "sharded_adjacency.hpp"

namespace gnnbench::plexus {
namespace {

/// Layer 0's F, with what trains it and the ids that its dropout is drawn by.
void state_features(MemoryStatement& m, const Problem& p, const Layout& layout, const EpochKind& kind) {
    const LayerShape& bottom = layout.layer(0);
    if (kind.aggregated_input) {  // known by its aggregate, which is layer 0's H
        if (p.train.input_dropout == 0) return;
        m.matrix(bottom.n_d, bottom.f_i);
        m.list<std::int64_t>(bottom.n_d);
        return;
    }
    const std::int64_t rows = block_size(bottom.n_o, layout.extent(bottom.roles.d), layout.at(bottom.roles.d));
    m.matrix(rows, bottom.f_i);
    if (kind.trainable) m.matrix(rows, (p.train.optimizer == OptimizerKind::sgd ? 1 : 3) * bottom.f_i);
    if (p.train.input_dropout > 0) m.list<std::int64_t>(rows);
}

/// The compact F of layer l, and the rows of it that this rank gives.
void state_sparse_rows(MemoryStatement& m, const SparseRows& rows, std::int64_t f_i) {
    std::int64_t given = 0;
    for (const auto& to : rows.given) given += std::ssize(to);
    m.matrix(rows.rows() + given, f_i);
    m.list<std::int32_t>(given);
}

}  // namespace

std::int64_t held_memory(const Problem& p, const Layout& layout, const SparsePlan& sparse, const Options& options,
                         const EpochKind& kind, std::int64_t element_bytes) {
    MemoryStatement m(element_bytes);
    state_features(m, p, layout, kind);
    std::int64_t panel = 0, gathered = 0, h = 0, q = 0, w = 0;  // of the layer with the largest
    for (int l = 0; l < layout.layers(); ++l) {
        const LayerShape& s = layout.layer(l);
        const bool one_run = layout.extent(s.roles.d) == 1;
        const SparseRows* rows = sparse.input(l);
        if (rows) state_sparse_rows(m, *rows, s.f_i);
        m.matrix(s.n_d, s.f_i + s.g_o);  // H, Q
        if (l > 0 || !one_run || drops_features(p, kind))
            panel = std::max(panel, (rows ? rows->rows() : s.n_o) * s.f_i);
        if (!one_run) gathered = std::max(gathered, s.parameters());
        m.matrix(p.train.optimizer == OptimizerKind::sgd ? 2 : 4,
                 layout.parameter_counts(l)[usize(layout.at(s.roles.d))]);
        if (l + 1 < layout.layers() && p.train.dropout > 0) m.list<std::int64_t>(s.n_d);
        h = std::max(h, s.n_d * s.f_i);
        q = std::max(q, s.n_d * s.g_o);
        w = std::max(w, s.f_i * s.g_o);
    }
    m.matrix(panel, 1);
    m.matrix(gathered, 2);  // W, and dW before it is reduced
    if (options.tune) m.matrix(h + q + w, 1);
    const LayerShape& top = layout.layer(layout.layers() - 1);
    VertexData::state_memory(m, p.dataset, top.n_d, top.g_o);
    ShardedLoss::state_memory(m, top.n_d, p.dataset.multi_label());
    return m.bytes();
}

void state_set_up(HostStatement& m, const Problem& p, const Layout& layout, const VertexBlocks& vertices,
                  const Options& options) {
    const std::int64_t n = p.index.vertices();
    std::set<int> extents;  // of axes that are cut: each has an index map in either order
    for (const Axis a : {Axis::x, Axis::y, Axis::z})
        if (layout.extent(a) > 1) extents.insert(layout.extent(a));
    const std::int64_t orders = options.permutation == Permutation::separate ? 2 : 1;
    const std::int64_t positions = 8 * n, parts = 4 * n;  // rows' and columns' positions; a map's parts
    m.take(positions + parts + orders * std::ssize(extents) * host_bytes::index_map * n);
    m.let_go(positions + parts);

    const LayerShape& bottom = layout.layer(0);
    const LayerShape& top = layout.layer(layout.layers() - 1);
    m.reads_labels(vertices.rows(layout.layers() - 1).owned(layout.at(top.roles.d)));
    if (reads_together(p, vertices)) {
        state_shared_features(m, p, held_features(p, vertices, layout), layout.rank());
    } else {
        const std::vector<GlobalId> block = vertices.columns(0).owned(layout.at(bottom.roles.o));
        const int d = layout.extent(bottom.roles.d), at = layout.at(bottom.roles.d);
        m.reads_features(
            std::span(block).subspan(usize(block_begin(bottom.n_o, d, at)), usize(block_size(bottom.n_o, d, at))),
            bottom.f_i);
    }
    ShardedAdjacency::state_cuts(m, p, vertices, layout, options);
}

}  // namespace gnnbench::plexus
