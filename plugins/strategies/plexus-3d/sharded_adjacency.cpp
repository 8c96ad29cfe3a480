#include "sharded_adjacency.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/shards.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::plexus {
namespace {

/// The shard of A that layer l multiplies by.
ShardPlace place_of(const VertexBlocks& vertices, const Layout& layout, int l) {
    const Roles roles = layout.layer(l).roles;
    return {vertices.rows(l), layout.at(roles.d), vertices.columns(l), layout.at(roles.o)};
}

/// The same of every rank.
ShardsOfRanks places_of(const VertexBlocks& vertices, const Layout& layout, int l) {
    const Roles roles = layout.layer(l).roles;
    ShardsOfRanks all{vertices.rows(l), vertices.columns(l), {}, {}};
    for (int k = 0; k < layout.grid().ranks(); ++k) {
        const GridPlace place = layout.grid().place(k);
        all.row_of.push_back(place[roles.d]);
        all.column_of.push_back(place[roles.o]);
    }
    return all;
}

}  // namespace

ShardedAdjacency::ShardedAdjacency(const Problem& problem, const VertexBlocks& vertices, const Layout& layout,
                                   const SparsePlan& sparse, const Options& options, const SharedReader* together,
                                   Backend& backend) {
    const std::optional<Adjacency> whole = together ? std::nullopt : std::optional(adjacency_of(problem));
    std::set<Key> backward;
    for (int l = 0; l < layout.layers(); ++l) {
        of_layer_.emplace_back(vertices.shard(l), sparse.input(l) != nullptr);
        if (l > 0 || options.trainable) backward.insert(of_layer_.back());
    }
    for (int l = 0; l < layout.layers(); ++l) {
        const Key key = of_layer_[usize(l)];
        if (shards_.contains(key)) continue;
        const SparseRows* rows = sparse.input(l);
        const ColumnSubset held = rows ? ColumnSubset{rows->compact, rows->rows()} : ColumnSubset();
        const ShardForm form{.row_blocks = options.blocks,
                             .with_transpose = backward.contains(key),
                             .columns = rows ? &held : nullptr};
        PreparedShard both = together ? prepare_shard(together->read_shard(places_of(vertices, layout, l)), form,
                                                      problem.threads, backend)
                                      : prepare_shard(*whole, place_of(vertices, layout, l), form, backend);
        shards_[key] = {std::move(both.forward), std::move(both.transposed)};
    }
}

void ShardedAdjacency::state_cuts(HostStatement& m, const Problem& problem, const VertexBlocks& vertices,
                                  const Layout& layout, const Options& options) {
    std::set<int> backward, stated;
    for (int l = 0; l < layout.layers(); ++l)
        if (l > 0 || options.trainable) backward.insert(vertices.shard(l));
    for (int l = 0; l < layout.layers(); ++l) {
        if (!stated.insert(vertices.shard(l)).second) continue;
        const ShardForm form{.row_blocks = options.blocks, .with_transpose = backward.contains(vertices.shard(l))};
        if (reads_together(problem, vertices))
            state_shared_shard(m, problem, places_of(vertices, layout, l), layout.rank(), form);
        else
            state_shard_cut(m, problem, place_of(vertices, layout, l), form);
    }
}

void ShardedAdjacency::drop_layer_0() {
    if (std::count(of_layer_.begin(), of_layer_.end(), of_layer_[0]) == 1) shards_.erase(of_layer_[0]);
}

std::string ShardedAdjacency::formats() const {
    std::map<std::string, int> count;
    for (const auto& [key, shard] : shards_)
        for (const auto* side : {&shard.forward, &shard.backward})
            for (const auto& block : *side) ++count[block->format];
    std::string text;
    for (const auto& [format, blocks] : count)
        text += fmt::format("{}{} ({} block{})", text.empty() ? "" : ", ", format, blocks, blocks == 1 ? "" : "s");
    return text;
}

}  // namespace gnnbench::plexus
