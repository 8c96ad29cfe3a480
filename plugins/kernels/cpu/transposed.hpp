#pragma once
#include <cstdint>
#include <vector>

#include "memory.hpp"
#include "spmm.hpp"
#include "tiled.hpp"

/// C = alpha · Aᵀ · B + beta · C from A's own layout. Each row of C is owned by one thread, which adds to it in the
/// order of A's rows (of their positions, where they are reordered): the same bits with any number of threads.
namespace gnnbench::cpu {

/// A compressed matrix's columns cut into runs of about equal work, and where each row's entries pass from one run to
/// the next.
struct ColumnRuns {
    std::vector<std::int64_t> first;  ///< length runs + 1: run q is columns [first[q], first[q + 1])
    HostArray<std::int32_t> split;  ///< [runs − 1 × rows]: (q, r) is how many of row r's entries are in runs 0 … q

    std::int64_t runs() const { return static_cast<std::int64_t>(first.size()) - 1; }
};

/// A run per thread. `vertex_at`, if not null: the column that an index means; a row's columns ascend.
ColumnRuns cut_into_runs(const Pattern& a, const std::int32_t* vertex_at, int threads);

/// `vertex_at`, if not null: the original row, and column, of a position.
template <class T>
void spmm_transposed(const FlatCsr<T>& a, const std::int32_t* vertex_at, const ColumnRuns& runs,
                     const DenseSide<T>& d, int threads);

/// A tiled matrix's blocks by tile, those of one tile from the first chunk to the last.
struct BlocksByTile {
    struct Place {
        std::int64_t block, first_row;  ///< number of the block, first row of its chunk
    };
    std::vector<std::int64_t> first;  ///< length tiles + 1: into places
    std::vector<Place> places;        ///< length blocks
};
template <class T>
BlocksByTile blocks_by_tile(const TiledMatrix<T>& a);

template <class T>
void spmm_transposed(const TiledMatrix<T>& a, const BlocksByTile& order, const DenseSide<T>& d, int threads);

/// One thread's part, for one instruction set.
template <class T>
struct TransposedOperations {
    /// C += alpha · Aᵀ · B, of the entries [begin[r], end[r]) of each row r; counted from its first, null: from the
    /// first, to the last.
    void (*rows)(const FlatCsr<T>& a, const std::int32_t* vertex_at, const std::int32_t* begin,
                 const std::int32_t* end, const DenseSide<T>& d);
    /// The same for one block of a tiled matrix.
    void (*block)(const TiledMatrix<T>& a, const BlocksByTile::Place& place, const DenseSide<T>& d);
};
/// For the best instruction set.
template <class T>
const TransposedOperations<T>& transposed_operations();
template <>
const TransposedOperations<float>& transposed_operations<float>();
template <>
const TransposedOperations<double>& transposed_operations<double>();

}  // namespace gnnbench::cpu
