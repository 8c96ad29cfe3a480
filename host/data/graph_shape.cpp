#include <data/graph_shape.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

#include <data/draws.hpp>

namespace gnnbench {

namespace {

std::span<const std::int32_t> neighbours(const GraphView& g, std::int64_t v) {
    return g.indices.subspan(usize(g.indptr[usize(v)]), usize(g.indptr[usize(v) + 1] - g.indptr[usize(v)]));
}

bool adjacent(const GraphView& g, std::int32_t u, std::int32_t v) {
    auto of_u = neighbours(g, u), of_v = neighbours(g, v);
    return of_u.size() < of_v.size() ? std::ranges::binary_search(of_u, v) : std::ranges::binary_search(of_v, u);
}

/// Share of the pairs of v's neighbours that are adjacent, of all pairs where there are at most `budget`, else of as
/// many random ones.
double local_clustering(const GraphView& g, std::int64_t v, std::int64_t budget, std::uint64_t seed) {
    const auto row = neighbours(g, v);
    const auto d = std::ssize(row);
    std::int64_t closed = 0;
    if (d * (d - 1) / 2 <= budget) {
        for (std::size_t i = 0; i < row.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) closed += adjacent(g, row[i], row[j]);
        return 2 * static_cast<double>(closed) / (static_cast<double>(d) * static_cast<double>(d - 1));
    }
    for (std::int64_t pair = 0; pair < budget; ++pair) {
        const auto words =
            philox(seed, Draw::sample, static_cast<std::uint64_t>(v), static_cast<std::uint32_t>(pair), 0);
        const auto first = scaled(words[0], row.size());
        auto second = scaled(words[1], row.size() - 1);
        second += second >= first;
        closed += adjacent(g, row[first], row[second]);
    }
    return static_cast<double>(closed) / static_cast<double>(budget);
}

/// The vertices of degree 2 and more by bin, ascending in each.
std::vector<std::vector<std::int32_t>> by_bin(const GraphView& g, std::int64_t bins) {
    std::vector<std::vector<std::int32_t>> vertices(usize(bins));
    for (std::int64_t v = 0; v < g.vertices(); ++v)
        if (const auto d = std::ssize(neighbours(g, v)); d >= 2)
            vertices[usize(degree_bin(d))].push_back(static_cast<std::int32_t>(v));
    return vertices;
}

double bin_clustering(const GraphView& g, const std::vector<std::int32_t>& vertices, std::uint64_t seed) {
    constexpr std::int64_t most_vertices = 20000, pairs = 1 << 18;
    const auto sampled = std::min<std::int64_t>(std::ssize(vertices), most_vertices);
    if (sampled == 0) return 0;
    const auto budget = std::clamp<std::int64_t>(pairs / sampled, 16, 4096);
    std::vector<double> of(usize(sampled));
#pragma omp parallel for schedule(dynamic, 64)
    for (std::int64_t i = 0; i < sampled; ++i)
        of[usize(i)] = local_clustering(g, vertices[usize(i * std::ssize(vertices) / sampled)], budget, seed);
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(sampled);
}

std::int64_t bins_up_to(std::int64_t degree) { return degree_bin(std::max<std::int64_t>(degree, 1)) + 1; }

}  // namespace

std::int64_t degree_bin(std::int64_t degree) {
    return static_cast<std::int64_t>(4 * std::log2(static_cast<double>(degree)));
}

GraphShape measure_shape(const GraphView& g, std::uint64_t seed) {
    GraphShape shape;
    for (std::int64_t v = 0; v < g.vertices(); ++v) {
        const auto d = neighbours(g, v).size();
        if (d >= shape.histogram.size()) shape.histogram.resize(d + 1);
        ++shape.histogram[d];
    }
    shape.components = count_components(g);
    for (const auto& vertices : by_bin(g, bins_up_to(std::ssize(shape.histogram) - 1)))
        shape.clustering.push_back(bin_clustering(g, vertices, seed));
    return shape;
}

namespace {

std::vector<ShapeReport::Bin> filled_bins(std::span<const std::int64_t> wanted,
                                          std::span<const std::int64_t> reached,
                                          std::span<const double> clustering, const GraphShape& shape) {
    const auto degrees = std::max(std::ssize(wanted), std::ssize(reached));
    std::vector<ShapeReport::Bin> bins(usize(bins_up_to(degrees - 1)));
    for (std::int64_t d = 1; d < degrees; ++d) {
        auto& bin = bins[usize(degree_bin(d))];
        if (bin.from == 0) bin.from = d;
        bin.to = d;
        const auto here = d < std::ssize(wanted) ? wanted[usize(d)] : 0;
        bin.wanted_vertices += here;
        bin.reached_vertices += d < std::ssize(reached) ? reached[usize(d)] : 0;
        if (d < std::ssize(clustering)) bin.wanted_clustering += static_cast<double>(here) * clustering[usize(d)];
    }
    for (std::size_t b = 0; b < bins.size(); ++b) {
        if (bins[b].wanted_vertices > 0) bins[b].wanted_clustering /= static_cast<double>(bins[b].wanted_vertices);
        if (b < shape.clustering.size()) bins[b].reached_clustering = shape.clustering[b];
    }
    std::erase_if(bins, [](const auto& b) { return b.wanted_vertices == 0 && b.reached_vertices == 0; });
    return bins;
}

double mean_of(std::span<const std::int64_t> histogram, double vertices) {
    double sum = 0;
    for (std::size_t d = 0; d < histogram.size(); ++d)
        sum += static_cast<double>(d) * static_cast<double>(histogram[d]);
    return sum / vertices;
}

double largest_difference(std::span<const std::int64_t> a, std::span<const std::int64_t> b, double vertices) {
    std::int64_t difference = 0, largest = 0;
    for (std::size_t d = 0; d < std::max(a.size(), b.size()); ++d) {
        difference += (d < a.size() ? a[d] : 0) - (d < b.size() ? b[d] : 0);
        largest = std::max(largest, std::abs(difference));
    }
    return static_cast<double>(largest) / vertices;
}

void compare_clustering(ShapeReport& r, double vertices) {
    double error = 0, wanted = 0, reached = 0;
    for (const auto& bin : r.bins) {
        const auto here = static_cast<double>(bin.wanted_vertices);
        wanted += here * bin.wanted_clustering;
        reached += static_cast<double>(bin.reached_vertices) * bin.reached_clustering;
        error += here * std::abs(bin.reached_clustering - bin.wanted_clustering);
    }
    r.wanted_clustering = wanted / vertices;
    r.reached_clustering = reached / vertices;
    r.clustering_error = wanted > 0 ? error / wanted : 0;
}

}  // namespace

ShapeReport compare_shape(std::span<const std::int32_t> degrees, std::span<const double> clustering,
                          const GraphShape& reached) {
    std::vector<std::int64_t> wanted(usize(degrees.back()) + 1);
    for (auto d : degrees) ++wanted[usize(d)];
    const auto n = static_cast<double>(degrees.size());
    ShapeReport r{.wanted_mean_degree = mean_of(wanted, n),
                  .reached_mean_degree = mean_of(reached.histogram, n),
                  .wanted_largest_degree = std::ssize(wanted) - 1,
                  .reached_largest_degree = std::ssize(reached.histogram) - 1,
                  .degree_distance = largest_difference(wanted, reached.histogram, n),
                  .clustering_wanted = !clustering.empty(),
                  .components = reached.components,
                  .bins = filled_bins(wanted, reached.histogram, clustering, reached)};
    compare_clustering(r, n);
    return r;
}

nlohmann::json to_json(const ShapeReport& r) {
    nlohmann::json j = {{"degrees",
                         {{"wanted_mean", r.wanted_mean_degree},
                          {"reached_mean", r.reached_mean_degree},
                          {"wanted_maximum", r.wanted_largest_degree},
                          {"reached_maximum", r.reached_largest_degree},
                          {"kolmogorov_smirnov", r.degree_distance}}},
                        {"clustering", {{"reached_mean", r.reached_clustering}}},
                        {"components", r.components.count},
                        {"largest_component", r.components.largest}};
    if (r.clustering_wanted) {
        j["clustering"]["wanted_mean"] = r.wanted_clustering;
        j["clustering"]["mean_error"] = r.clustering_error;
    }
    auto& rows = j["by_degree"] = nlohmann::json::array();
    for (const auto& bin : r.bins) {
        nlohmann::json row = {{"from", bin.from},
                              {"to", bin.to},
                              {"wanted_vertices", bin.wanted_vertices},
                              {"reached_vertices", bin.reached_vertices},
                              {"reached_clustering", bin.reached_clustering}};
        if (r.clustering_wanted) row["wanted_clustering"] = bin.wanted_clustering;
        rows.push_back(std::move(row));
    }
    return j;
}

}  // namespace gnnbench
