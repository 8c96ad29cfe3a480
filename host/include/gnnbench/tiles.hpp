#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/graph.hpp>

namespace gnnbench {

/// TiledRows that own their memory.
struct TileArrays {
    std::int64_t tile_rows = 0, tile_columns = 0, down = 0, across = 0;
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> row_starts, indices;
    std::vector<float> weights;

    TiledRows view() const {
        return {tile_rows, tile_columns, down, across, starts, row_starts, indices, weights};
    }
};

/// How a matrix of n rows and columns lies in at most `down` × `across` tiles of one size: fewer where n is too small for
/// so many.
TiledRows tile_shape(std::int64_t n, std::int64_t down, std::int64_t across);

/// The entries of a square matrix in tiles of tile_shape(n, down, across). Throws DataError where a tile would have 2³¹
/// entries or more, EnvironmentError where the row pointers of so many tiles need more than this machine's memory.
TileArrays cut_tiles(const CompressedRows& rows, std::int64_t down, std::int64_t across);

}  // namespace gnnbench
