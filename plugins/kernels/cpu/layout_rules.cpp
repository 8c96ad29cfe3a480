#include <algorithm>
#include <bit>

#include <gnnbench/caches.hpp>

#include "layout.hpp"
#include "limits.hpp"

namespace gnnbench::cpu {
namespace {

/// Bytes of B at the widest panel, in float32.
std::int64_t panel_bytes(const Csr& a) { return a.cols * widest_panel * 4; }

/// Whether tiles' segments have so many entries on average.
bool segments_have(const Csr& a, std::int64_t entries) {
    const std::int64_t tiles = (a.cols + cache_columns() - 1) / cache_columns();
    return tiles > 1 && a.nonzeros() / std::max<std::int64_t>(1, a.rows * tiles) >= entries;
}

double share_nearby(const Csr& a) {
    return share_nearby(Pattern{a.indptr.data(), a.indices.data(), a.rows, a.cols}, cache_columns(), 4096);
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

std::int64_t cache_columns() {
    const auto fit = static_cast<std::uint64_t>(core_cache_bytes() / (widest_panel * 4));
    return std::clamp(static_cast<std::int64_t>(std::bit_floor(fit)), tile_widths.front(), tile_widths.back());
}

std::int64_t tile_columns(std::int64_t panel) {
    const std::int64_t fit = core_cache_bytes() * 2 / 3 / (panel * 4);
    const auto wider = std::ranges::upper_bound(tile_widths, fit);
    return wider == tile_widths.begin() ? tile_widths.front() : *(wider - 1);
}

std::vector<std::int64_t> tile_candidates(std::int64_t panel) {
    const std::int64_t fill = core_cache_bytes() / (panel * 4);
    std::vector<std::int64_t> out;
    for (const std::int64_t c : tile_widths)
        if (2 * c >= fill && c <= fill) out.push_back(c);
    if (out.empty()) out.push_back(tile_columns(panel));
    return out;
}

bool tiles_pay(const Csr& a) {
    const bool far = panel_bytes(a) > last_level_cache_bytes() / 2;
    return segments_have(a, far ? 4 : 16);
}

bool attended_tiles_pay(const Csr& a, std::int64_t columns) {
    const bool far = a.cols * columns * 4 > last_level_cache_bytes() / 2;
    return segments_have(a, far ? 2 : 16);
}

bool clusters_may_pay(const Csr& a) {
    return a.rows == a.cols && panel_bytes(a) > 4 * last_level_cache_bytes() && a.nonzeros() > 12 * a.rows &&
           share_nearby(a) < 0.3;
}

bool worth_timing(const Csr& a) {
    constexpr std::int64_t long_enough = 1 << 23;
    return a.nonzeros() >= long_enough && a.cols > 2 * cache_columns() && share_nearby(a) < 0.7;
}

}  // namespace gnnbench::cpu
