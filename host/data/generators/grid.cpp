// A road-like mesh: a lattice with some streets missing and some diagonals, its vertices in natural order, the
// short side first, so that neighbours have near ids.
#include <array>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/draws.hpp>
#include <data/edges.hpp>
#include <data/generators/draw_until.hpp>
#include <data/generators/kinds.hpp>

namespace gnnbench {

namespace {

constexpr auto grid_params =
    joined(std::array<ParamDecl, 6>{{
               {"width", ParamType::integer, "400", 1, 2147483647, nullptr, "vertices along the long side"},
               {"height", ParamType::integer, "50", 1, 2147483647, nullptr,
                "vertices along the short side, whose ids are consecutive"},
               {"missing", ParamType::real, "0.1", 0, 1, nullptr, "fraction of lattice edges left out"},
               {"diagonals", ParamType::real, "0.05", 0, 1, nullptr, "fraction of squares crossed by a diagonal"},
               {"order", ParamType::choice, "natural", 0, 0, "natural|random", "order of vertices"},
               directed_graph_param,
           }},
           content_params);

struct Lattice {
    std::int64_t width, height;
    double missing, diagonals;
    bool directed;
    std::uint64_t seed;
};

/// Calls add(u, v) for the edges from (x, y) up, to the right, and across the square at its upper right.
template <class Add>
void edges_from(const Lattice& l, std::int64_t x, std::int64_t y, Add add) {
    auto v = x * l.height + y;
    auto words = draw(l.seed, Draw::graph, static_cast<std::uint64_t>(v), 0, DataDraw::lattice);
    bool up = y + 1 < l.height, right = x + 1 < l.width;
    // Directed, every street is one-way, its direction drawn from a low bit.
    auto way = [&](std::int64_t a, std::int64_t b, std::uint32_t word) {
        if (l.directed && word % 2 == 1) std::swap(a, b);
        add(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    };
    if (up && unit_interval(words[0]) >= l.missing) way(v, v + 1, words[0]);
    if (right && unit_interval(words[1]) >= l.missing) way(v, v + l.height, words[1]);
    if (!up || !right || unit_interval(words[2]) >= l.diagonals) return;
    if (words[3] % 2 == 0)
        way(v, v + l.height + 1, words[2]);
    else
        way(v + 1, v + l.height, words[2]);
}

std::string grid_label(const Params& p) {
    return fmt::format("grid-{}x{}", p.integer("width"), p.integer("height"));
}

/// Lattice edges that are kept, and diagonals.
GraphSize grid_size(const Params& p) {
    const auto width = static_cast<double>(p.integer("width")), height = static_cast<double>(p.integer("height"));
    const double edges = ((width - 1) * height + width * (height - 1)) * (1 - p.real("missing")) +
                         (width - 1) * (height - 1) * p.real("diagonals");
    return {.vertices = p.integer("width") * p.integer("height"),
            .entries = static_cast<std::int64_t>(edges * (p.boolean("directed") ? 1 : 2))};
}

RawDataset make_grid(const Params& p) {
    Lattice l{.width = p.integer("width"),
              .height = p.integer("height"),
              .missing = p.real("missing"),
              .diagonals = p.real("diagonals"),
              .directed = p.boolean("directed"),
              .seed = static_cast<std::uint64_t>(p.integer("seed"))};
    if (l.width > INT32_MAX / l.height)
        throw SpecError(
            fmt::format("parameters of generator grid: width × height is {} × {}, at most {} vertices are allowed",
                        l.width, l.height, INT32_MAX));
    auto n = l.width * l.height;
    std::vector<std::int32_t> source, target, ids;
    if (p.choice("order") == "random") ids = shuffled_ids(n, l.seed);
    auto id = [&](std::int32_t v) { return ids.empty() ? v : ids[usize(v)]; };
    for (std::int64_t x = 0; x < l.width; ++x)
        for (std::int64_t y = 0; y < l.height; ++y)
            edges_from(l, x, y, [&](std::int32_t u, std::int32_t v) {
                source.push_back(id(u));
                target.push_back(id(v));
            });
    RawDataset data;
    data.graph = build_pattern(n, std::move(source), std::move(target), l.directed);
    return data;
}

}  // namespace

const GeneratorKind grid_generator{"grid",     "road-like lattice, long and thin, random features and labels",
                                   1,          grid_params,
                                   grid_label, grid_size,
                                   make_grid};

}  // namespace gnnbench
