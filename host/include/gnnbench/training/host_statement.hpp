#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/lines.hpp>
#include <gnnbench/training/shared_reading.hpp>
#include <gnnbench/training/shards.hpp>
#include <gnnbench/training/sparse_blocks.hpp>

/// What the process of one rank holds in the memory of its host while it sets up and trains.

namespace gnnbench {

/// Bytes of what a rank reads, cuts and keeps: the source of what `gnnbench plan --memory` predicts and of the shares in
/// results/scale.md.
namespace host_bytes {
/// An entry of the dataset: its column, and its weight where the graph has weights.
constexpr std::int64_t stored_entry(bool weighted) { return weighted ? 8 : 4; }
/// Where a row begins: in the dataset, in a matrix that is cut, in one that is prepared.
constexpr std::int64_t row_pointer = 8;
/// An entry that is cut: its column, and its value in float64.
constexpr std::int64_t cut_entry = 4 + 8;
/// An entry that is to be sent to those whose shard has it, its weight unless all are 1; a row of theirs in one shard.
constexpr std::int64_t sent_entry(bool unit_weights) { return unit_weights ? 4 : 4 + 8; }
constexpr std::int64_t sent_row = 16;
/// An entry in a back end's format, at most: its column and its value.
constexpr std::int64_t prepared_entry(std::int64_t element_bytes) { return 4 + element_bytes; }
/// The original id of a vertex that the rank owns, on the host.
constexpr std::int64_t owned_id = 8;
/// Label, split and original id of a vertex, on the device.
constexpr std::int64_t vertex_data = 4 + 1 + 8;
/// A row of a halo, by its place in its part.
constexpr std::int64_t listed_row = 4;
/// Columns of its operand that a product in host memory copies to where they lie together, at most, and twice as many while
/// a format is chosen: where each row of the operand is multiplied so many times on average, or it would not pay.
constexpr std::int64_t packed_columns = 64, packed_from = 4;
/// Position and vertex of each vertex of the graph, where positions are no ids.
constexpr std::int64_t index_map = 4 + 4;
/// The part of an entry under a vertex cut.
constexpr std::int64_t entry_part = 4;
/// The scale of a column, float64.
constexpr std::int64_t scale = 8;
/// A set of positions among `n`: 1.5 bits for each.
constexpr std::int64_t position_set(std::int64_t n) { return n * 3 / 16; }
/// What the process of a rank has before it reads anything: programs, libraries, MPI. Measured (results/scale.md).
constexpr std::int64_t idle_worker = std::int64_t{24} << 20;

/// A matrix as it is cut.
constexpr std::int64_t cut(std::int64_t rows, std::int64_t nonzeros) {
    return cut_entry * nonzeros + row_pointer * (rows + 1);
}
}  // namespace host_bytes

/// The most that a process holds at once.
struct HostMemory {
    std::int64_t own = 0;  ///< what no other process can use
    std::int64_t mapped =
        0;  ///< pages of files: the ranks of a host share them, and the system may take them back
    std::int64_t total() const { return own + mapped; }
};

/// Pages of an array in a mapped file, in the runs that the system maps at one fault.
class MappedPages {
public:
    void read(std::int64_t first_byte, std::int64_t end_byte);
    std::int64_t bytes() const { return bytes_; }

private:
    std::vector<bool> seen_;
    std::int64_t bytes_ = 0;
};

/// Follows what a rank takes and lets go as its trainer is made.
class HostStatement {
public:
    /// `element_bytes`: of the back end's numbers. `device_on_host`: its memory is the host's.
    HostStatement(const Problem& problem, std::int64_t element_bytes, bool device_on_host);

    void take(std::int64_t bytes) {
        held_ += bytes;
        most_ = std::max(most_, held_);
    }
    void let_go(std::int64_t bytes) { held_ -= bytes; }
    /// A matrix that was cut goes to the back end, which keeps it and copies some columns of its operand in each product.
    void prepares(std::int64_t rows, std::int64_t cols, std::int64_t nonzeros);
    /// The features' pages of these vertices, of which `columns` go to the device.
    void reads_features(std::span<const GlobalId> vertices, std::int64_t columns);
    /// The features' pages of a run of vertices, and, apart, features that go to the device.
    void reads_features(VertexRun run);
    void loads_features(std::int64_t rows, std::int64_t columns);
    /// Labels, splits and ids of these vertices, which go to the device.
    void reads_labels(std::span<const GlobalId> vertices);
    /// Pages of the entries of these rows of `d`'s matrix in these columns, and, where values are read, what scales them.
    /// Returns the bytes of the scales, which are held while rows are cut.
    std::int64_t reads_rows(const Adjacency& a, Direction d, std::span<const GlobalId> vertices,
                            std::span<const ColumnRange> columns, Entries entries);
    /// Pages of the entries of a run of rows, and of the row starts that their and their columns' scales are made of.
    void reads_rows(VertexRun run);
    /// The pages of all rows of Â's graph.
    void reads_entries();
    /// The pages of all rows of the graph, and of all features.
    void reads_everything();

    /// The most of set-up and of training, in which the rank's trainer holds so many bytes on its device.
    HostMemory most(std::int64_t device_bytes) const;

private:
    void loads(std::int64_t bytes);
    void reads_row_starts(Direction d, std::int64_t first, std::int64_t end);

    const Problem& problem_;
    std::int64_t element_bytes_;
    bool device_on_host_;
    std::int64_t held_ = 0, most_ = 0;
    std::int64_t loaded_ = 0;  ///< of `held_`: what is part of the trainer's device memory
    std::int64_t packed_ = 0;  ///< the most that a product copies
    /// By direction, 0 for both where the graph is symmetric; `tiles_`: of tiles, instead of rows.
    std::array<MappedPages, 2> rows_, row_starts_, tiles_;
    MappedPages features_, labels_;
};

/// The rank owns the rows of `part`, and has all their features.
void state_owned_rows(HostStatement& m, const Problem& problem, Part part);
/// Row or column i of blocks, of those j that `holds` names, as PreparedBlocks cuts and prepares it.
void state_block_cuts(HostStatement& m, const Problem& problem, Part i, BlockLine line, const HoldsBlock& holds,
                      ProductDirections directions = ProductDirections::both);
/// A Halo and both its matrices, prepared, and where wanted their transposes.
void state_halo_cuts(HostStatement& m, const Problem& problem, Part i, Direction d, const HoldsBlock& holds,
                     bool also_transposed = false);
/// Blocks of Â and Âᵀ, as keep_blocks cuts and prepares them.
void state_panel_cuts(HostStatement& m, const Problem& problem, PartRange rows, std::span<const Part> panels);

/// The same of blocks that travel: they are on the device as they were cut.
void state_sent_panel_cuts(HostStatement& m, const Problem& problem, PartRange rows, std::span<const Part> panels);

/// One shard, in even row blocks, as prepare_shard cuts and prepares it.
void state_shard_cut(HostStatement& m, const Problem& problem, const ShardPlace& at, const ShardForm& form);

/// The shard of `rank`, as SharedReader reads it and prepare_shard prepares it.
void state_shared_shard(HostStatement& m, const Problem& problem, const ShardsOfRanks& shards, int rank,
                        const ShardForm& form);
/// What `rank` holds of X, as SharedReader reads it; `held` [ranks].
void state_shared_features(HostStatement& m, const Problem& problem, const std::vector<HeldFeatures>& held,
                           int rank);

/// A strategy that says what its setting up takes of the host's memory, in its order. Of another, the rank is assumed to
/// own part `rank` and to cut its rows in blocks by part; of one on batches, to hold all of the graph.
class StatesHostMemory {
public:
    virtual ~StatesHostMemory();
    virtual void state_host_memory(HostStatement& m, const Problem& problem, int rank) const = 0;
};

/// What the process of `rank` holds at its peak in set-up and training, the making of a partition apart; `device_bytes`
/// is what the strategy states of its device (Strategy::stated_memory). Reads what the rank will read of the graph.
HostMemory host_memory(const Strategy& strategy, const Problem& problem, int rank, std::int64_t element_bytes,
                       std::int64_t device_bytes, bool device_on_host);

}  // namespace gnnbench
