#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gnnbench/backend.hpp>

#include "cluster.hpp"
#include "tiled.hpp"

namespace gnnbench::cpu {

enum class Format : std::uint8_t { rows, used_rows, tiled, reordered };

/// A format, and how wide its tiles are.
struct Layout {
    Format format = Format::rows;
    std::int64_t tile_cols = 0;  ///< of tiled alone
    bool operator==(const Layout&) const = default;
};
std::string name_of(Layout layout);

/// How the layout of a matrix is chosen.
struct LayoutWish {
    enum class By : std::uint8_t { timing, rule, name } by = By::timing;
    Layout named = {};  ///< where by name; tile_cols 0: those of the cache
    /// Columns of the sparse products to come, one each; none: not known.
    std::vector<std::int64_t> widths = {};
    std::int64_t heads = 0;  ///< the most of a layer that attends over the matrix; 0: none does
};

/// Seconds that a product at each width to come would take in a layout, together, estimated from a sample of rows.
struct LayoutTime {
    Layout layout;
    double seconds = 0;
};

/// A layout, with what choosing it has computed and building it needs again.
struct ChosenLayout {
    Layout layout = {};
    std::optional<ColumnOrder> columns = {};
    std::optional<ClusterOrder> clusters = {};
    std::vector<LayoutTime> times = {};  ///< where candidates were timed
    std::int64_t columns_timed = 0;      ///< of all those products
};

/// The same for float32 and float64, and for equal matrices always the same in one process.
ChosenLayout choose_layout(const Csr& a, const LayoutWish& wish, TransposedProducts t, int threads);
/// "formats timed, 233000 x 233000 with 101437546 nonzeros times 64 columns: csr 812.0 ms, tiled 4096 342.0 ms (chosen)".
/// Of a matrix to attend over, by rule or by name: rows, tiles beside them, or rows in the order of clusters.
ChosenLayout choose_attended(const Csr& a, const LayoutWish& wish, int threads);
std::string text_of_times(const ChosenLayout& chosen, const Csr& a);

// Rules, from sizes alone.

/// How wide tiles are made.
inline constexpr std::array<std::int64_t, 9> tile_widths = {1024, 1536, 2048,  3072, 4096,
                                                            6144, 8192, 12288, 16384};
/// Rows of B, of the widest panel in float32, that fill a core's own cache: a power of two.
std::int64_t cache_columns();
/// Columns of a tile whose panel of so many columns of B in float32 leaves room for half of the next one there.
std::int64_t tile_columns(std::int64_t panel = widest_panel);
/// Those that take half to all of that cache.
std::vector<std::int64_t> tile_candidates(std::int64_t panel);
/// Whether a tile's rows are used often enough to be worth fetching for each chunk.
bool tiles_pay(const Csr& a);
/// The same where entries are attended to: without tiles each reads a whole row of so many columns, in float32.
bool attended_tiles_pay(const Csr& a, std::int64_t columns);
/// Whether a search for clusters may pay: B far larger than the caches, rows long enough, no local order yet.
bool clusters_may_pay(const Csr& a);
/// Clusters that hold less of the nonzeros are not worth an order of their own.
inline constexpr double least_inside = 0.15;
/// Whether candidates differ by enough, and a product takes long enough, to time them.
bool worth_timing(const Csr& a);

}  // namespace gnnbench::cpu
