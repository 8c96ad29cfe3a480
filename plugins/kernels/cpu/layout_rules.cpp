#include <algorithm>
#include <bit>

#include <gnnbench/caches.hpp>

#include "layout.hpp"
#include "limits.hpp"

namespace gnnbench::cpu {
namespace {

constexpr std::int64_t narrowest_tile = 1024, widest_tile = 16384;

/// Bytes of B at the widest panel, in float32.
std::int64_t panel_bytes(const Csr& a) { return a.cols * widest_panel * 4; }

double share_nearby(const Csr& a) {
    return share_nearby(Pattern{a.indptr.data(), a.indices.data(), a.rows, a.cols}, tile_columns(), 4096);
}

}  // namespace

std::string name_of(Layout layout) {
    switch (layout.format) {
        case Format::rows:
            return "csr";
        case Format::used_rows:
            return "csr of used rows";
        case Format::tiled:
            return "tiled " + std::to_string(layout.tile_cols);
        case Format::reordered:
            return "csr in cluster order";
    }
    return {};
}

std::int64_t tile_columns(std::int64_t panel) {
    const auto fit = static_cast<std::uint64_t>(core_cache_bytes() / (panel * 4));
    return std::clamp(static_cast<std::int64_t>(std::bit_floor(fit)), narrowest_tile, widest_tile);
}

std::vector<std::int64_t> tile_candidates(std::int64_t panel) {
    std::vector<std::int64_t> out;
    const std::int64_t fits = tile_columns(panel);
    for (const std::int64_t c : {fits / 2, fits, 2 * fits})
        if (c >= narrowest_tile && c <= widest_tile) out.push_back(c);
    return out;
}

bool tiles_pay(const Csr& a) {
    const std::int64_t tiles = (a.cols + tile_columns() - 1) / tile_columns();
    const std::int64_t per_segment = a.nonzeros() / std::max<std::int64_t>(1, a.rows * tiles);
    const bool far = panel_bytes(a) > last_level_cache_bytes() / 2;
    return tiles > 2 && per_segment >= (far ? 4 : 16);
}

bool clusters_may_pay(const Csr& a) {
    return a.rows == a.cols && panel_bytes(a) > 4 * last_level_cache_bytes() && a.nonzeros() > 12 * a.rows &&
           share_nearby(a) < 0.3;
}

bool worth_timing(const Csr& a) {
    constexpr std::int64_t long_enough = 1 << 23;
    return a.nonzeros() >= long_enough && a.cols > 2 * tile_columns() && share_nearby(a) < 0.7;
}

}  // namespace gnnbench::cpu
