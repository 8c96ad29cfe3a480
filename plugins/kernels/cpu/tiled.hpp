#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/matrix.hpp>

#include "memory.hpp"
#include "panels.hpp"
#include "spmm.hpp"

namespace gnnbench::cpu {

/// A run of nonzeros of one row inside one tile.
struct Segment {
    std::uint16_t row;  ///< inside its chunk
    std::uint16_t length;
};

/// The nonzeros of one chunk of rows in one tile of columns, row after row.
struct TileBlock {
    std::int64_t first_segment, first_entry;
    std::int32_t tile, segments;
};

/// A matrix cut into chunks of rows × tiles of columns, for products whose dense operand is far larger than a
/// core's cache. While a block is worked on, its tile of B (packed, one panel of columns) stays in that cache and
/// its chunk of C near it, so that gathered rows come from there and not from memory.
///
/// Column positions {0 … cols − 1}: columns by falling count of nonzeros, so that the first tiles are dense.
/// Tile t holds positions [t · tile_cols, (t + 1) · tile_cols).
template <class T>
struct TiledMatrix {
    std::int64_t rows = 0, cols = 0, nonzeros = 0;
    std::int64_t tile_cols = 0;         ///< a power of two, at most 65536
    std::int64_t widest_chunk = 0;      ///< rows
    HostArray<std::int32_t> column_at;  ///< length cols: column by position
    std::vector<std::int64_t>
        chunk_rows;  ///< length chunks + 1: chunk k is rows [chunk_rows[k], chunk_rows[k + 1])
    std::vector<std::int64_t> chunk_blocks;  ///< length chunks + 1: into blocks
    std::vector<TileBlock> blocks;
    HostArray<Segment> segments;
    HostArray<std::uint16_t> local_col;  ///< length nonzeros: position inside the tile
    HostArray<T> values;                 ///< length nonzeros

    std::int64_t chunks() const { return static_cast<std::int64_t>(chunk_rows.size()) - 1; }
};

/// Columns by falling count of nonzeros, ties in their own order.
struct ColumnOrder {
    HostArray<std::int32_t> column_at;  ///< length cols: column by position
    HostArray<std::int32_t> position;   ///< length cols: its inverse
};
ColumnOrder columns_by_count(const Csr& a, int threads);

/// The most rows of a chunk: what 16 bits and the caches hold.
std::int64_t tallest_chunk(std::int64_t tile_cols);
/// Chunks of about equal work, none taller than that.
std::vector<std::int64_t> cut_rows(const Csr& a, std::int64_t tile_cols, int threads);

/// Where a matrix is cut.
struct TileCut {
    std::int64_t tile_cols;
    const ColumnOrder& columns;
    std::vector<std::int64_t> chunk_rows;
};
template <class T>
TiledMatrix<T> make_tiled(const Csr& a, const TileCut& cut, int threads);
template <class T>
void spmm_tiled(const TiledMatrix<T>& a, const DenseSide<T>& d, int threads, Workspace& workspace);
/// Its part of one panel, B being packed by position.
template <class T>
void multiply_chunks(const TiledMatrix<T>& a, const T* packed, const DenseSide<T>& d, const Panel& panel,
                     int threads, Workspace& workspace);

/// sums [chunk rows × panel] += block · tile, where tile [tile_cols × panel] is B's packed panel from the
/// block's tile on.
template <class T>
void multiply_block(const TiledMatrix<T>& a, const TileBlock& block, const T* tile, T* sums, std::int64_t panel);
template <>
void multiply_block(const TiledMatrix<float>& a, const TileBlock& block, const float* tile, float* sums,
                    std::int64_t panel);
template <>
void multiply_block(const TiledMatrix<double>& a, const TileBlock& block, const double* tile, double* sums,
                    std::int64_t panel);

}  // namespace gnnbench::cpu
