#include <gnnbench/tiles.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

TiledRows tile_shape(std::int64_t n, std::int64_t down, std::int64_t across) {
    require(n > 0 && down > 0 && across > 0, "a matrix without rows, or without tiles, cannot be tiled");
    const auto size = [&](std::int64_t tiles) { return (n + tiles - 1) / tiles; };
    const std::int64_t rows = size(down), columns = size(across);
    return {rows, columns, (n + rows - 1) / rows, (n + columns - 1) / columns, {}, {}, {}, {}};
}

TileArrays cut_tiles(const CompressedRows& rows, std::int64_t down, std::int64_t across) {
    const auto n = std::ssize(rows.indptr) - 1;
    const TiledRows shape = tile_shape(n, down, across);
    TileArrays t{shape.tile_rows, shape.tile_columns, shape.down, shape.across, {0}, {}, {}, {}};
    t.row_starts.resize(array_elements(fmt::format("row pointers of {} × {} tiles", t.down, t.across),
                                       {t.down, t.across, t.tile_rows + 1}, sizeof(std::int32_t)));
    t.indices.resize(rows.indices.size());
    t.weights.resize(rows.weights.size());
    // By tile of a row of tiles: entries so far, from the tile's first; then the place of the next.
    std::vector<std::int64_t> next(usize(t.across));
    for (std::int64_t r = 0; r < t.down; ++r) {
        const std::int64_t first = r * t.tile_rows, last = std::min(n, first + t.tile_rows);
        const auto row_start = [&](std::int64_t c, std::int64_t v) -> std::int32_t& {
            return t.row_starts[usize((r * t.across + c) * (t.tile_rows + 1) + v - first)];
        };
        std::ranges::fill(next, 0);
        for (std::int64_t v = first; v < last; ++v) {
            for (auto e = rows.indptr[usize(v)]; e < rows.indptr[usize(v) + 1]; ++e)
                ++next[usize(rows.indices[usize(e)] / t.tile_columns)];
            for (std::int64_t c = 0; c < t.across; ++c) {
                if (next[usize(c)] > INT32_MAX)
                    throw DataError(fmt::format("in {} × {} tiles one has 2^31 entries or more: take more tiles",
                                                t.down, t.across));
                row_start(c, v + 1) = static_cast<std::int32_t>(next[usize(c)]);
            }
        }
        for (std::int64_t c = 0; c < t.across; ++c) {
            for (std::int64_t v = last; v < first + t.tile_rows; ++v) row_start(c, v + 1) = row_start(c, last);
            const std::int64_t begin = t.starts.back();
            t.starts.push_back(begin + next[usize(c)]);
            next[usize(c)] = begin;
        }
        for (auto e = rows.indptr[usize(first)]; e < rows.indptr[usize(last)]; ++e) {
            const std::int32_t column = rows.indices[usize(e)];
            const auto to = usize(next[usize(column / t.tile_columns)]++);
            t.indices[to] = column;
            if (!rows.weights.empty()) t.weights[to] = rows.weights[usize(e)];
        }
    }
    return t;
}

}  // namespace gnnbench
