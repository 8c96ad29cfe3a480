#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <gnnbench/partition.hpp>
#include <gnnbench/sized_order.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/process_grid.hpp>

/// Vertex orders that strategies choose themselves, and their effect on the nonzeros of a matrix's
/// shards (Plexus, sections 3.2 and 5.1).

namespace gnnbench {

/// The block, of process_grid.hpp's even blocks, that contains position ∈ {0 … n−1}.
constexpr int block_of(std::int64_t n, int blocks, std::int64_t position) {
    const std::int64_t longer = n / blocks + 1, in_longer = n % blocks * longer;
    return static_cast<int>(position < in_longer ? position / longer
                                                 : n % blocks + (position - in_longer) / (n / blocks));
}

/// Rows and columns in the given order, both permuted by one permutation, or each by its own.
enum class Permutation : std::uint8_t { original, single, separate };

/// position[v] of every vertex v, as a row and as a column of the matrix.
struct VertexOrders {
    std::vector<std::int32_t> rows, columns;
};

/// Vertices in the order of `given` (parts one after another), then permuted at random, seeded.
VertexOrders permuted_orders(const IndexMap& given, Permutation permutation, std::uint64_t seed);

/// Cuts positions [0, n) into k even blocks, which are the parts of the index map. Inside a block vertices lie by position.
IndexMap even_index_map(std::span<const std::int32_t> position, Part k);

/// permuted_orders, each cut into even blocks as an index map. Of an order of which only sizes are known, a permutation is
/// another such order.
class EvenOrders {
public:
    EvenOrders(const IndexMap& given, Permutation permutation, std::uint64_t seed);
    IndexMap rows(Part k) const;
    IndexMap columns(Part k) const;

private:
    IndexMap cut(std::span<const std::int32_t> position, const std::shared_ptr<const SizedOrder>& sized,
                 Part k) const;

    std::int64_t vertices_;
    VertexOrders orders_;                                           ///< empty: only sizes are known
    std::shared_ptr<const SizedOrder> sized_rows_, sized_columns_;  ///< nullptr: vertices are known
};

/// Nonzeros of each shard when rows are cut in `row_blocks` and columns in `column_blocks` even blocks.
struct ShardBalance {
    Part row_blocks = 1, column_blocks = 1;
    std::vector<std::int64_t> nonzeros;  ///< row-major by (row block, column block)
    std::int64_t largest = 0;
    double mean = 0;

    double max_over_mean() const { return mean > 0 ? static_cast<double>(largest) / mean : 1; }
};
ShardBalance shard_balance(const Adjacency& a, const VertexOrders& orders, Part row_blocks, Part column_blocks);

}  // namespace gnnbench
