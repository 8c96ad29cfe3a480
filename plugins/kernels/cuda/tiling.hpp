#pragma once
#include "host_device.hpp"

namespace gnnbench::cuda {

constexpr int block_threads = 256;
constexpr int panel_lanes = 16;

/// How a product's columns are shared among threads: packs of `pack` elements, `lanes` threads side by side, each
/// with `packs` packs that lie lanes · pack columns apart. Column tiles of lanes · pack · packs columns go to
/// blocks in y.
struct Tiling {
    int pack = 1, lanes = 32, packs = 1;

    GNNBENCH_HOST_DEVICE int rows_per_block() const { return block_threads / lanes; }
    GNNBENCH_HOST_DEVICE int tile_columns() const { return pack * lanes * packs; }
    GNNBENCH_HOST_DEVICE i64 column_tiles(i64 width) const { return divided_up(width, tile_columns()); }
    /// The first column of pack k of a lane in a tile.
    GNNBENCH_HOST_DEVICE i64 column(i64 tile, int lane, int k) const {
        return tile * tile_columns() + (static_cast<i64>(k) * lanes + lane) * pack;
    }
};

/// The largest pack of elements (16 bytes at most) that divides the width and starts on its own alignment in every
/// row of every matrix given by address and leading dimension.
struct PackChoice {
    int most;     ///< 16 / element size
    i64 element;  ///< bytes

    int pack(i64 width) const { return fit(width); }
    template <class... Rest>
    int pack(i64 width, const void* data, i64 ld, Rest... rest) const {
        const int others = pack(width, rest...);
        int p = others;
        while (p > 1 && (reinterpret_cast<u64>(data) % static_cast<u64>(p * element) != 0 || ld % p != 0)) p /= 2;
        return p;
    }

private:
    int fit(i64 width) const {
        int p = most;
        while (width % p != 0) p /= 2;
        return p;
    }
};

template <class T>
constexpr PackChoice packs_of{16 / static_cast<int>(sizeof(T)), sizeof(T)};

/// The tiling for a width, of those that spmm.cu compiles: 4, 8, 16 or 32 lanes with one pack, 32 with 2 or 4;
/// where packs are narrower than 16 bytes only 8 or 32 with one, 16 with 3 (for 41 and 47 classes: two rows a warp, and few
/// lanes without a column), and 32 with 4. In panels the tiles of a wide matrix are
/// panel_lanes packs wide: 256 bytes of whole packs. The device goes through one after another, so that the second cache
/// has to hold a panel of B and not whole rows of it; each panel reads the sparse matrix again.
inline Tiling spmm_tiling(i64 width, int pack, int widest_pack, bool in_panels = false) {
    const i64 needed = divided_up(width, pack);
    if (pack == widest_pack) {
        for (const int lanes : {4, 8, 16, 32})
            if (needed <= lanes || (in_panels && lanes == panel_lanes)) return {pack, lanes, 1};
        return {pack, 32, needed <= 64 ? 2 : 4};
    }
    if (needed <= 8) return {pack, 8, 1};
    if (needed <= 32 || in_panels) return {pack, 32, 1};
    if (needed <= 48) return {pack, 16, 3};
    return {pack, 32, 4};
}

/// Threads side by side for `items` neighbouring things of a row: the least power of two that holds them, 32 at
/// most.
inline int side_by_side(i64 items) {
    int lanes = 1;
    while (lanes < items && lanes < 32) lanes *= 2;
    return lanes;
}

}  // namespace gnnbench::cuda
