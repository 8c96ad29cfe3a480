#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/training/adjacency.hpp>

/// Blocks of Â whose rows are a part of one order and whose columns are a part of another, for strategies that permute
/// rows and columns apart.

namespace gnnbench {

/// The rows of one part of an order, the columns of one part of another.
struct ShardPlace {
    const IndexMap& rows;
    Part row;
    const IndexMap& columns;
    Part column;
};
/// Some of a shard's columns, all that have entries among them.
struct ColumnSubset {
    std::span<const std::int32_t> place;  ///< by column of the shard: its number among them; −1: not there
    std::int64_t count = 0;
};
struct ShardForm {
    int row_blocks = 1;
    bool with_transpose = true;
    const ColumnSubset* columns = nullptr;  ///< nullptr: all
};
/// Even row blocks of a shard, and of its transpose, prepared. Where the back end holds no values they are only
/// counted.
struct PreparedShard {
    std::vector<std::unique_ptr<PreparedMatrix>> forward, transposed;
};
PreparedShard prepare_shard(const Adjacency& a, const ShardPlace& at, const ShardForm& form, Backend& backend);
/// The same of a whole shard that was made elsewhere. `threads`: of this rank.
PreparedShard prepare_shard(Csr shard, const ShardForm& form, int threads, Backend& backend);

}  // namespace gnnbench
