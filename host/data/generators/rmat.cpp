// R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004): an edge falls into a quadrant of the adjacency matrix with
// probability a, b, c or d, again into a quadrant of that, and so on to a single entry.
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/draws.hpp>
#include <data/generators/draw_until.hpp>
#include <data/generators/kinds.hpp>

namespace gnnbench {

namespace {

constexpr auto rmat_params =
    joined(std::array<ParamDecl, 8>{{
               vertices_param,
               {"scale", ParamType::integer, "0", 0, 30, nullptr, "2^scale vertices; 0: as `vertices` says"},
               average_degree_param,
               {"a", ParamType::real, "0.57", 0, 1, nullptr,
                "probability of the upper left quadrant; the lower right one's is the rest"},
               {"b", ParamType::real, "0.19", 0, 1, nullptr, "probability of the upper right quadrant"},
               {"c", ParamType::real, "0.19", 0, 1, nullptr, "probability of the lower left quadrant"},
               {"order", ParamType::choice, "random", 0, 0, "random|degree",
                "order of vertices: at random, or as drawn (hubs first)"},
               directed_graph_param,
           }},
           content_params);

struct Quadrants {
    double a, b, c;
    unsigned levels;
    std::int64_t vertices;
    std::uint64_t seed;
};

/// One word per level. If the number of vertices is not a power of two, entries outside are drawn again.
void draw_edge(const Quadrants& q, std::int64_t e, std::int32_t& u, std::int32_t& v) {
    std::int64_t row = 0, col = 0;
    for (std::uint32_t attempt = 0;; ++attempt) {
        row = col = 0;
        std::array<std::uint32_t, 4> words{};
        for (unsigned level = 0; level < q.levels; ++level) {
            if (level % 4 == 0)
                words =
                    draw(q.seed, Draw::graph, static_cast<std::uint64_t>(e), level / 4, DataDraw::edge, attempt);
            double x = unit_interval(words[level % 4]);
            bool right = x >= q.a && (x < q.a + q.b || x >= q.a + q.b + q.c), lower = x >= q.a + q.b;
            row = 2 * row + lower;
            col = 2 * col + right;
        }
        if (row < q.vertices && col < q.vertices) break;
        if (attempt == 255) row = col = 0;  // a loop, which does not count
        if (attempt == 255) break;
    }
    u = static_cast<std::int32_t>(row);
    v = static_cast<std::int32_t>(col);
}

std::int64_t vertices_of(const Params& p) {
    auto scale = p.integer("scale");
    return scale > 0 ? std::int64_t{1} << scale : p.integer("vertices");
}

std::string rmat_label(const Params& p) {
    return fmt::format("rmat-{}x{}", vertices_of(p), p.real("average_degree"));
}

GraphSize rmat_size(const Params& p) {
    const auto n = static_cast<double>(vertices_of(p));
    return asked_size(vertices_of(p), p.real("average_degree"), n * (n - 1),
                      fmt::format("{:.0f} vertices have room for", n));
}

RawDataset make_rmat(const Params& p) {
    Quadrants q{.a = p.real("a"),
                .b = p.real("b"),
                .c = p.real("c"),
                .levels = 0,
                .vertices = vertices_of(p),
                .seed = static_cast<std::uint64_t>(p.integer("seed"))};
    if (q.a + q.b + q.c > 1)
        throw SpecError(
            fmt::format("parameters of generator rmat: a + b + c is {}, allowed is at most 1", q.a + q.b + q.c));
    while ((std::int64_t{1} << q.levels) < q.vertices) ++q.levels;
    bool as_drawn = p.choice("order") == "degree", directed = p.boolean("directed");
    auto ids = as_drawn ? std::vector<std::int32_t>() : shuffled_ids(q.vertices, q.seed);
    RawDataset data;
    data.graph = draw_until(q.vertices, wanted_entries(q.vertices, p.real("average_degree")), directed,
                            [&](std::int64_t e, std::int32_t& u, std::int32_t& v) {
                                draw_edge(q, e, u, v);
                                if (as_drawn) return;
                                u = ids[usize(u)];
                                v = ids[usize(v)];
                            });
    return data;
}

}  // namespace

const GeneratorKind rmat_generator{
    "rmat",   "R-MAT: self-similar power law, random features and labels", 1, rmat_params, rmat_label, rmat_size,
    make_rmat};

}  // namespace gnnbench
