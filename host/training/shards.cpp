#include <gnnbench/training/shards.hpp>

#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/usize.hpp>

#include "training/block_counts.hpp"

namespace gnnbench {
namespace {

Csr cut_shard(const Adjacency& a, const ShardPlace& at) {
    const Part panels[] = {at.column};
    const Lines rows(a, Direction::forward, at.rows.owned(at.row), Entries::values,
                     columns_of(at.columns, panels));
    return std::move(cut_lines(a, rows, at.columns, panels)[0]);
}

/// What back ends without values are told of a shard.
enum class Told : std::uint8_t { entries, size };

std::vector<std::unique_ptr<PreparedMatrix>> prepare_row_blocks(const Csr& shard, int blocks, Told told,
                                                                Backend& backend) {
    const auto prepare = [&](const Csr& block) {
        return told == Told::size ? backend.prepare_as_sized(block) : backend.prepare(block);
    };
    std::vector<std::unique_ptr<PreparedMatrix>> prepared;
    if (blocks == 1) {
        prepared.push_back(prepare(shard));
        return prepared;
    }
    for (int b = 0; b < blocks; ++b) {
        const auto first = usize(block_begin(shard.rows, blocks, b));
        const auto rows = usize(block_size(shard.rows, blocks, b));
        const std::int64_t begin = shard.indptr[first], end = shard.indptr[first + rows];
        Csr block{.rows = block_size(shard.rows, blocks, b),
                  .cols = shard.cols,
                  .indptr = {},
                  .indices = {shard.indices.begin() + begin, shard.indices.begin() + end},
                  .values = {shard.values.begin() + begin, shard.values.begin() + end}};
        for (std::size_t r = first; r <= first + rows; ++r) block.indptr.push_back(shard.indptr[r] - begin);
        prepared.push_back(prepare(block));
    }
    return prepared;
}

PreparedShard prepare_cut(Csr shard, const ShardForm& form, int threads, Told told, Backend& backend) {
    if (form.columns) {
        for (std::int32_t& column : shard.indices) column = form.columns->place[usize(column)];
        shard.cols = form.columns->count;
    }
    PreparedShard prepared;
    prepared.forward = prepare_row_blocks(shard, form.row_blocks, told, backend);
    if (!form.with_transpose) return prepared;
    const Csr transpose = transposed(shard, threads);
    shard = Csr();
    prepared.transposed = prepare_row_blocks(transpose, form.row_blocks, told, backend);
    return prepared;
}

PreparedShard prepare_counted(const Adjacency& a, const ShardPlace& at, const ShardForm& form, Backend& backend) {
    PreparedShard prepared;
    const int blocks = form.row_blocks;
    const std::int64_t rows = at.rows.size(at.row),
                       columns = form.columns ? form.columns->count : at.columns.size(at.column);
    const auto by_rows = counted_blocks(a, {at.rows, blocks}, {at.columns});
    for (int b = 0; b < blocks; ++b)
        prepared.forward.push_back(backend.prepare(
            SparseSize{block_size(rows, blocks, b), columns, by_rows->at(at.row * blocks + b, at.column)}));
    if (!form.with_transpose) return prepared;
    const auto by_columns = counted_blocks(a, {at.rows}, {at.columns, blocks});
    for (int b = 0; b < blocks; ++b)
        prepared.transposed.push_back(backend.prepare(
            SparseSize{block_size(columns, blocks, b), rows, by_columns->at(at.row, at.column * blocks + b)}));
    return prepared;
}

}  // namespace

PreparedShard prepare_shard(const Adjacency& a, const ShardPlace& at, const ShardForm& form, Backend& backend) {
    // Even blocks of some of the columns are no even blocks of all.
    const bool countable = form.row_blocks == 1 || !form.with_transpose || !form.columns;
    if (!backend.holds_values() && countable) return prepare_counted(a, at, form, backend);
    return prepare_cut(cut_shard(a, at), form, a.threads(), countable ? Told::size : Told::entries, backend);
}

PreparedShard prepare_shard(Csr shard, const ShardForm& form, int threads, Backend& backend) {
    return prepare_cut(std::move(shard), form, threads, Told::entries, backend);
}

}  // namespace gnnbench
