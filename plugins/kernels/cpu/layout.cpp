#include "layout.hpp"

#include <algorithm>
#include <cstdio>

#include "layout_trial.hpp"
#include "used_rows.hpp"

namespace gnnbench::cpu {
namespace {

ChosenLayout by_rule(const Csr& a, TransposedProducts t, int threads) {
    if (tiles_pay(a)) return {.layout = {Format::tiled, tile_columns()}};
    if (t == TransposedProducts::none && rows_mostly_empty(a)) return {.layout = {Format::used_rows}};
    if (clusters_may_pay(a))
        if (ClusterOrder order = cluster_order(a, cache_columns(), threads); order.inside > least_inside)
            return {.layout = {Format::reordered}, .clusters = std::move(order)};
    return {};
}

ChosenLayout by_name(const Csr& a, Layout named, TransposedProducts t) {
    if (named.format == Format::tiled && named.tile_cols == 0) named.tile_cols = tile_columns();
    if (named.format == Format::reordered && a.rows != a.cols) return {};
    if (named.format == Format::used_rows && t == TransposedProducts::wanted) return {};
    return {.layout = named};
}

}  // namespace

ChosenLayout choose_layout(const Csr& a, const LayoutWish& wish, TransposedProducts t, int threads) {
    if (wish.by == LayoutWish::By::name) return by_name(a, wish.named, t);
    const bool used_rows = t == TransposedProducts::none && rows_mostly_empty(a);
    if (wish.by == LayoutWish::By::timing && !used_rows && worth_timing(a))
        if (auto timed = by_timing(a, wish.widths, threads)) return std::move(*timed);
    return by_rule(a, t, threads);
}

ChosenLayout choose_attended(const Csr& a, const LayoutWish& wish, int threads) {
    // A row of a tile's panel, and the row of the table of scores that goes with it.
    std::int64_t panel = wish.widths.empty() ? widest_attended : panel_step, widest = panel;
    for (const std::int64_t w : wish.widths) {
        panel = std::max(panel, widest_of(cut_columns(w, widest_attended)));
        widest = std::max(widest, w);
    }
    const std::int64_t tile_cols = tile_columns(panel + 4 * wish.heads);
    const bool named = wish.by == LayoutWish::By::name;
    const auto asked = [&](Format f, auto&& pays) { return named ? wish.named.format == f : pays(a); };
    const auto tiled_pays = [&](const Csr& m) { return attended_tiles_pay(m, widest + wish.heads); };
    if (a.nonzeros() > 0 && asked(Format::tiled, tiled_pays))
        return {.layout = {Format::tiled, named && wish.named.tile_cols ? wish.named.tile_cols : tile_cols}};
    if (a.rows == a.cols && asked(Format::reordered, clusters_may_pay)) {
        // Rows are read whole: fewer fit the cache than of one panel.
        ClusterOrder order = cluster_order(a, cache_columns() / 2, threads);
        if (named || order.inside > least_inside)
            return {.layout = {Format::reordered}, .clusters = std::move(order)};
    }
    return {};
}

std::string text_of_times(const ChosenLayout& chosen, const Csr& a) {
    std::string out = "formats timed, " + std::to_string(a.rows) + " x " + std::to_string(a.cols) + " with " +
                      std::to_string(a.nonzeros()) + " nonzeros times " + std::to_string(chosen.columns_timed) +
                      " columns:";
    for (const LayoutTime& t : chosen.times) {
        char ms[32];
        std::snprintf(ms, sizeof ms, " %.1f ms", 1e3 * t.seconds);
        out += (&t == chosen.times.data() ? " " : ", ") + name_of(t.layout) + ms;
        if (t.layout == chosen.layout) out += " (chosen)";
    }
    return out;
}

}  // namespace gnnbench::cpu
