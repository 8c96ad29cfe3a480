#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include <gnnbench/tiles.hpp>

#include <data/manifest.hpp>
#include <data/npy.hpp>

namespace gnnbench {

/// Most tiles down, and across.
constexpr std::int64_t most_tiles = 4096;

/// Name of the folder of a store's tiles; empty if it has none.
std::string tiles_folder_name(const Manifest& manifest);

/// One matrix in tiles on disk, memory-mapped: the arrays of TiledRows.
class MappedTiles {
public:
    MappedTiles() = default;
    /// Throws DataError where an array is missing, or is not what a matrix of so many vertices and entries has.
    MappedTiles(const std::filesystem::path& folder, const std::string& prefix, const Manifest& manifest);
    TiledRows view() const;
    /// Whether they are the tiles of these rows.
    bool are_of(const CompressedRows& rows) const;

private:
    TiledRows shape_ = {};
    MappedArray<std::int64_t> starts_;
    MappedArray<std::int32_t> row_starts_, indices_;
    MappedArray<float> weights_;
};

/// A store's tiles: of its rows and, if it has one, of its transpose.
struct StoreTiles {
    MappedTiles rows, transpose;

    /// Those that the manifest says the store has; empty if none.
    static StoreTiles open(const std::filesystem::path& store, const Manifest& manifest);
};

/// Adds tiles to a store, in place of those that it has; 1 × 1 only removes them. Its content and digest stay what they
/// are: ranks that need some rows and some columns of the graph read less. A process that is killed leaves the store
/// as it was, or as it should be. Throws SpecError where there may not be so many tiles, DataError where one would have
/// 2³¹ entries or more, EnvironmentError where the folder cannot be written, another process does the same, or the tiles
/// do not fit this machine's memory.
Manifest tile_store(const std::filesystem::path& store, std::int64_t down, std::int64_t across);

}  // namespace gnnbench
