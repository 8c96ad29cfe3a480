#include "sharded_adjacency.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::plexus {
namespace {

/// The shard of A that layer l multiplies by, on the host.
Csr shard_of(const Adjacency& a, const VertexBlocks& vertices, const Layout& layout, int l) {
    const Roles roles = layout.layer(l).roles;
    const IndexMap& columns = vertices.columns(l);
    const Part part[] = {layout.at(roles.o)};
    const Lines rows(a, Direction::forward, vertices.rows(l).owned(layout.at(roles.d)), Entries::values,
                     columns_of(columns, part));
    return std::move(cut_lines(a, rows, columns, part)[0]);
}

PreparedRowBlocks prepare_row_blocks(const Csr& a, int blocks, Backend& backend) {
    PreparedRowBlocks prepared;
    for (int b = 0; b < blocks; ++b) {
        const auto first = usize(block_begin(a.rows, blocks, b));
        const auto rows = usize(block_size(a.rows, blocks, b));
        const std::int64_t begin = a.indptr[first], end = a.indptr[first + rows];
        Csr block{.rows = block_size(a.rows, blocks, b),
                  .cols = a.cols,
                  .indptr = {},
                  .indices = {a.indices.begin() + begin, a.indices.begin() + end},
                  .values = {a.values.begin() + begin, a.values.begin() + end}};
        for (std::size_t r = first; r <= first + rows; ++r) block.indptr.push_back(a.indptr[r] - begin);
        prepared.push_back(backend.prepare(block));
    }
    return prepared;
}

}  // namespace

ShardedAdjacency::ShardedAdjacency(const Adjacency& a, const VertexBlocks& vertices, const Layout& layout,
                                   const SparsePlan& sparse, const Options& options, Backend& backend) {
    std::set<Key> backward;
    for (int l = 0; l < layout.layers(); ++l) {
        of_layer_.emplace_back(vertices.shard(l), sparse.input(l) != nullptr);
        if (l > 0 || options.trainable) backward.insert(of_layer_.back());
    }
    for (int l = 0; l < layout.layers(); ++l) {
        const Key key = of_layer_[usize(l)];
        if (shards_.contains(key)) continue;
        Csr shard = shard_of(a, vertices, layout, l);
        if (const SparseRows* rows = sparse.input(l)) {
            for (std::int32_t& column : shard.indices) column = rows->compact[usize(column)];
            shard.cols = rows->rows();
        }
        Shard& s = shards_[key];
        s.forward = prepare_row_blocks(shard, options.blocks, backend);
        if (backward.contains(key))
            s.backward = prepare_row_blocks(transposed(shard, a.threads()), options.blocks, backend);
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
