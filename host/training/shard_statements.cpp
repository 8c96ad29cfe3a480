#include <gnnbench/training/host_statement.hpp>

#include <algorithm>

#include <gnnbench/training/problem.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/usize.hpp>

#include "training/block_counts.hpp"
#include "training/rounds.hpp"

namespace gnnbench {

namespace {

/// A shard, held, is prepared and let go, and so is its transpose; row blocks are copies.
void state_preparing(HostStatement& m, std::int64_t rows, std::int64_t cols, std::int64_t nonzeros,
                     const ShardForm& form) {
    const std::int64_t shard = host_bytes::cut(rows, nonzeros), transpose = host_bytes::cut(cols, nonzeros);
    const auto block = [&](std::int64_t whole) { return form.row_blocks == 1 ? 0 : whole / form.row_blocks; };
    m.take(block(shard));
    m.prepares(rows, cols, nonzeros);
    m.let_go(block(shard));
    if (!form.with_transpose) return m.let_go(shard);
    m.take(transpose);
    m.let_go(shard);
    m.take(block(transpose));
    m.prepares(cols, rows, nonzeros);
    m.let_go(transpose + block(transpose));
}

}  // namespace

void state_shard_cut(HostStatement& m, const Problem& p, const ShardPlace& at, const ShardForm& form) {
    const Adjacency a = adjacency_of(p);
    const Part panels[] = {at.column};
    const std::vector<GlobalId> owned = at.rows.owned(at.row);
    const std::int64_t n = std::ssize(owned), cols = at.columns.size(at.column), ids = host_bytes::owned_id * n;
    const std::int64_t nonzeros = counted_blocks(a, {at.rows}, {at.columns})->at(at.row, at.column);
    const std::int64_t scales =
        m.reads_rows(a, Direction::forward, owned, columns_of(at.columns, panels), Entries::values);
    m.take(ids + scales + host_bytes::cut(n, nonzeros));
    m.let_go(ids + scales);
    state_preparing(m, n, cols, nonzeros, form);
}

void state_shared_shard(HostStatement& m, const Problem& p, const ShardsOfRanks& shards, int rank,
                        const ShardForm& form) {
    const Adjacency a = adjacency_of(p);
    const ShardPlace at = shards.at(rank);
    const std::int64_t rows = at.rows.size(at.row), cols = at.columns.size(at.column);
    const std::int64_t nonzeros = counted_blocks(a, {at.rows}, {at.columns})->at(at.row, at.column);
    const int ranks = static_cast<int>(std::ssize(shards.row_of)), all = at.rows.parts() * at.columns.parts();
    const VertexRun run = reading_runs(p.dataset.graph, ranks)[usize(rank)];
    m.reads_rows(run);
    const std::int64_t read =
        p.dataset.graph.indptr[usize(run.end)] - p.dataset.graph.indptr[usize(run.first)] + run.size();
    // Scales of rows and columns, where the next entry of each row goes, what is to be sent, and what is on its way.
    const std::int64_t beside =
        host_bytes::scale * (rows + cols) + host_bytes::row_pointer * rows +
        host_bytes::sent_entry(a.unit_weights()) * read +
        host_bytes::sent_row * std::min(read, run.size() * at.columns.parts()) +
        rounds_bytes(ranks, all, SharedReader::usual_round_bytes, SharedReader::smallest_capacity);
    m.take(host_bytes::cut(rows, nonzeros) + beside);
    m.let_go(beside);
    state_preparing(m, rows, cols, nonzeros, form);
}

void state_shared_features(HostStatement& m, const Problem& p, const std::vector<HeldFeatures>& held, int rank) {
    const HeldFeatures& own = held[usize(rank)];
    const int ranks = static_cast<int>(std::ssize(held));
    const std::int64_t n = p.index.vertices(), first = block_begin(n, ranks, rank);
    m.reads_features(VertexRun{first, first + block_size(n, ranks, rank)});
    const std::int64_t rows = std::int64_t{sizeof(float)} * own.rows * own.columns,
                       sent = rounds_bytes(ranks, ranks, SharedReader::usual_round_bytes, 0) +
                              std::int64_t{sizeof(float)} * SharedReader::feature_rows_at_once *
                                  p.dataset.feature_count;
    m.take(rows + sent);
    m.let_go(sent);
    m.loads_features(own.rows, own.columns);
    m.let_go(rows);
}

}  // namespace gnnbench
