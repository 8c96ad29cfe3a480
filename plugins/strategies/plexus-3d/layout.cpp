#include "layout.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::plexus {

std::string text(const GridShape& g) { return fmt::format("{} x {} x {}", g.extent(X), g.extent(Y), g.extent(Z)); }

Roles roles_of(int layer) {
    constexpr Roles cycle[] = {{X, Y, Z}, {Z, X, Y}, {Y, Z, X}};
    return cycle[layer % 3];
}

Layout::Layout(const GridShape& grid, const ModelSpec& model, std::int64_t vertices, int rank)
    : grid_(grid), place_(grid.place(rank)), rank_(rank) {
    for (int l = 0; l < model.layers(); ++l) {
        const auto [o, i, d] = roles_of(l);
        const auto f = model.widths[usize(l)], g = model.widths[usize(l) + 1];
        layers_.push_back({.roles = {o, i, d},
                           .n_o = block_size(vertices, extent(o), at(o)),
                           .n_d = block_size(vertices, extent(d), at(d)),
                           .f_i = block_size(f, extent(i), at(i)),
                           .g_o = block_size(g, extent(o), at(o)),
                           .first_f = block_begin(f, extent(i), at(i)),
                           .first_g = block_begin(g, extent(o), at(o)),
                           .bias = model.bias});
    }
}

Options read_options(const Params& p) {
    const std::string& permutation = p.choice("permutation");
    const auto size = [&](const char* axis) { return static_cast<int>(p.integer(axis)); };
    return {.size = {size("x"), size("y"), size("z")},
            .choice = p.choice("grid") == "predicted" ? GridChoice::predicted : GridChoice::bytes,
            .prediction = p.choice("prediction") == "printed" ? Prediction::printed : Prediction::per_rank,
            .permutation = permutation == "double"   ? Permutation::separate
                           : permutation == "single" ? Permutation::single
                                                     : Permutation::original,
            .permutation_seed = p.integer("permutation_seed"),
            .blocks = static_cast<int>(p.integer("blocks")),
            .overlaps_blocks = p.boolean("overlap_blocks"),
            .tune = p.boolean("gemm_tuning"),
            .trainable = trains_features(p),
            .sparse = p.boolean("sparse_all_reduce")};
}

VertexBlocks::VertexBlocks(const Problem& problem, const Layout& layout, const Options& o)
    : separate_(o.permutation == Permutation::separate) {
    const std::uint64_t seed =
        o.permutation_seed < 0 ? problem.train.seed : static_cast<std::uint64_t>(o.permutation_seed);
    const EvenOrders orders(problem.index, o.permutation, seed);
    const auto add = [&](auto&& cut) {
        std::map<int, IndexMap> made;  // axes of one extent share a map
        for (const Axis a : {Axis::x, Axis::y, Axis::z}) {
            const int extent = layout.extent(a);
            if (!made.contains(extent)) made.emplace(extent, cut(extent));
            maps_.push_back(made.at(extent));
        }
    };
    add([&](int extent) { return orders.rows(extent); });
    if (separate_) add([&](int extent) { return orders.columns(extent); });
}

bool VertexBlocks::scattered() const {
    return std::ranges::any_of(maps_, [](const IndexMap& m) { return !m.identity(); });
}

bool reads_together(const Problem& problem, const VertexBlocks& vertices) {
    return problem.ranks > 1 && vertices.scattered();
}

namespace {

std::array<int, 3> extents_of(const Layout& layout) {
    return {layout.extent(Axis::x), layout.extent(Axis::y), layout.extent(Axis::z)};
}

/// What ranks of one process share: by the grid's extents.
struct KeptBlocks {
    std::map<std::array<int, 3>, std::shared_ptr<const VertexBlocks>> of;
};

}  // namespace

std::shared_ptr<const VertexBlocks> vertex_blocks(const Problem& problem, const Layout& layout,
                                                  const Options& options) {
    auto* const kept = problem.shared ? &problem.shared->of<KeptBlocks>().of[extents_of(layout)] : nullptr;
    return made_once(kept, [&] { return VertexBlocks(problem, layout, options); });
}

}  // namespace gnnbench::plexus
