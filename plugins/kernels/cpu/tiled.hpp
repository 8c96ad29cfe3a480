#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/matrix.hpp>

#include "memory.hpp"
#include "panels.hpp"
#include "spmm.hpp"

namespace gnnbench::cpu {

inline constexpr std::int64_t tile_step = 512;

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
/// Order of loops: panels of columns ∋ chunks (threads) ∋ tiles ∋ segments ∋ nonzeros. What a panel of w columns moves:
///
///     into a core's first cache    4 w · nonzeros  (B, from its second)  +  8 w · segments  (C, from the last and back)
///     into its second, in order    4 w · cols · chunks  (each tile, while the one before is multiplied)
///     from memory                  6 · nonzeros + 4 · segments  (A)
///
/// Wider tiles have longer segments, taller chunks read fewer tiles; a tile and half of the next one share the second
/// cache.
///
/// Column positions {0 … cols − 1}: columns by falling count of nonzeros, so that the first tiles are dense.
/// Tile t holds positions [t · tile_cols, (t + 1) · tile_cols).
template <class T>
struct TiledMatrix {
    std::int64_t rows = 0, cols = 0, nonzeros = 0;
    std::int64_t tile_cols = 0;         ///< a multiple of tile_step, at most 65536
    std::int64_t widest_chunk = 0;      ///< rows
    HostArray<std::int32_t> column_at;  ///< length cols: column by position
    std::vector<std::int64_t>
        chunk_rows;  ///< length chunks + 1: chunk k is rows [chunk_rows[k], chunk_rows[k + 1])
    std::vector<std::int64_t> chunk_blocks;  ///< length chunks + 1: into blocks
    std::vector<TileBlock> blocks;
    HostArray<Segment> segments;         ///< and `read_ahead` zeros behind them
    HostArray<std::uint16_t> local_col;  ///< length nonzeros + read_ahead: position inside the tile
    HostArray<T> values;                 ///< length nonzeros

    /// Segments and nonzeros that are looked at beyond the last, to prefetch what they name.
    static constexpr std::size_t read_ahead = 32;

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

/// The panel's rows of B that a block multiplies, and those of the block after it, to be brought into the cache.
template <class T>
struct TilesOfB {
    const T* here;  ///< [tile_cols × panel]
    const T* next;
    std::int64_t next_elements;
};
/// sums [chunk rows × panel] += block · its tile of B.
template <class T>
void multiply_block(const TiledMatrix<T>& a, const TileBlock& block, const TilesOfB<T>& b, T* sums,
                    std::int64_t panel);
template <>
void multiply_block(const TiledMatrix<float>& a, const TileBlock& block, const TilesOfB<float>& b, float* sums,
                    std::int64_t panel);
template <>
void multiply_block(const TiledMatrix<double>& a, const TileBlock& block, const TilesOfB<double>& b, double* sums,
                    std::int64_t panel);

}  // namespace gnnbench::cpu
