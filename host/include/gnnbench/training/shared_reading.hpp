#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/shards.hpp>
#include <gnnbench/transport.hpp>

/// Reading a dataset together, for orders of vertices that are not the dataset's own: each of P ranks reads a run of the
/// dataset's rows, once, and sends what it read to the ranks that hold it. So each reads 1/P of the dataset whatever the
/// order, as A. K. Ranjan's thesis on Plexus, section 5.4, has it read files of 2D shards.

namespace gnnbench {

/// The shard of each of some ranks: rank k has the rows of part row_of[k] of `rows`, the columns of part column_of[k] of
/// `columns`. Several ranks may have the same.
struct ShardsOfRanks {
    const IndexMap& rows;
    const IndexMap& columns;
    std::vector<Part> row_of, column_of;  ///< [ranks]

    ShardPlace at(int rank) const { return {rows, row_of[usize(rank)], columns, column_of[usize(rank)]}; }
};

/// What a rank holds of X: `rows` rows from position `first` of an order on, and `columns` columns from `first_column` on.
struct HeldFeatures {
    std::int64_t first = 0, rows = 0;
    std::int64_t first_column = 0, columns = 0;
};

/// The rows of the graph that each of `ranks` ranks reads: runs of vertices that have as many entries and rows as one
/// another, up to a row each.
std::vector<VertexRun> reading_runs(const GraphView& graph, int ranks);

/// One rank's part in reading a dataset together with others.
class SharedReader {
public:
    /// Bytes that a rank sends, and that it is sent, in a round, at most.
    static constexpr std::int64_t usual_round_bytes = std::int64_t{8} << 20;
    /// What one rank can send to another in a round is no less, however many they are: a record of a shard.
    static constexpr std::int64_t smallest_capacity = 64;
    static constexpr std::int64_t feature_rows_at_once = 1024;

    /// Moves host memory by `ranks`. The problem's views must outlive it. All ranks have the same `round_bytes`.
    SharedReader(const Problem& problem, std::unique_ptr<Transport> ranks,
                 std::int64_t round_bytes = usual_round_bytes);

    /// This rank's shard of Â, equal to the bit to what cut_lines cuts of whole rows. Each entry is sent as its column in the
    /// shard (4 bytes), and its weight (8 bytes) unless all are 1. Collective.
    Csr read_shard(const ShardsOfRanks& shards) const;
    /// What this rank holds of X, equal to the bit to load_features; `held` [ranks], whose rows are positions of `order`.
    /// Collective.
    Matrix read_features(const IndexMap& order, const std::vector<HeldFeatures>& held, Backend& backend) const;

private:
    const Problem problem_;
    std::unique_ptr<Transport> ranks_;
    std::int64_t round_bytes_;
    VertexRun run_;   ///< whose rows of the graph this rank reads
    Adjacency mine_;  ///< asked for these alone
};

}  // namespace gnnbench
