#include "partitioning/cases.hpp"

#include <algorithm>
#include <cmath>

#include "graphs.hpp"
#include "partitioning/kinds.hpp"

namespace gnnbench::bench {

std::vector<PartitioningCase> partitioning_cases(double scale) {
    const auto vertices = static_cast<std::int64_t>(200000 * scale);
    const Csr grid = mesh(static_cast<std::int64_t>(300 * std::sqrt(scale)));
    const Csr communities = undirected(power_law({.vertices = vertices,
                                                  .average_degree = 8,
                                                  .exponent = 2.5,
                                                  .widest = 100,
                                                  .communities = std::max<std::int64_t>(1, vertices / 200),
                                                  .inside = 0.7}));
    const Csr power = undirected(power_law({.vertices = vertices,
                                            .average_degree = 10,
                                            .exponent = 2.3,
                                            .widest = 300,
                                            .communities = 1,
                                            .inside = 0}));
    std::vector<PartitioningCase> cases;
    const auto add = [&](const char* name, const Csr& graph, Part parts, double goal) {
        if (graph.rows >= 32 * std::int64_t{parts}) cases.push_back({name, graph, parts, goal});
    };
    add("grid", grid, 8, 0);
    add("grid", grid, 64, 0.80);
    add("grid", grid, 512, 0.79);
    add("communities", communities, 8, 0.945);
    add("communities", communities, 64, 0.975);
    add("communities", communities, 512, 0.975);
    add("power law", power, 8, 0.865);
    add("power law", power, 64, 0.90);
    // Kinds on which nothing was tuned.
    const auto by_side = [&](double side) { return static_cast<std::int64_t>(side * std::sqrt(scale)); };
    add("web", undirected(web({.pages = static_cast<std::int64_t>(300000 * scale)})), 64, 0);
    add("roads", roads({.side = by_side(250), .missing = 0.25, .along = 2}), 64, 0);
    add("roads, short", roads({.side = by_side(350), .missing = 0.35, .along = 0.5}), 64, 0);
    add("roads, long", roads({.side = by_side(150), .missing = 0.2, .along = 6}), 64, 0);
    add("hexagons", hexagons(by_side(450), 1), 64, 0);
    return cases;
}

PartitioningCase communities_case(std::int64_t vertices, Part parts, bool in_order) {
    return {.name = in_order ? "communities in order" : "communities",
            .graph = undirected(power_law({.vertices = vertices,
                                           .average_degree = 8.5,
                                           .exponent = 2.5,
                                           .widest = 100,
                                           .communities = std::max<std::int64_t>(1, vertices / 200),
                                           .inside = 0.7,
                                           .in_order = in_order})),
            .parts = parts};
}

PartitioningCase grid_case(std::int64_t vertices, Part parts) {
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(vertices)));
    return {.name = "grid", .graph = mesh(side), .parts = parts};
}

}  // namespace gnnbench::bench
