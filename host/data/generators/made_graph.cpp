// BTER, block two-level Erdős–Rényi (Kolda, Pinar, Plantenga and Seshadhri, SIAM J. Sci. Comput. 36(5), 2014): phase
// 1 draws Erdős–Rényi graphs inside affinity blocks of vertices of nearly one degree, which gives the clustering;
// phase 2 gives every vertex the rest of its degree. The paper's phase 2 is Chung and Lu's, which has the degrees in
// expectation, so that degrees 0 and 1 need a correction of their own; here phase 2 matches stubs (see stubs.hpp),
// which has them exactly. The paper's ρ_d = ∛c_d is corrected for blocks of several degrees and for triangles of
// phase 2 (see affinity_blocks.cpp).
#include <data/generators/made_graph.hpp>

#include <numeric>
#include <span>

#include <gnnbench/usize.hpp>

#include <data/generators/affinity_blocks.hpp>
#include <data/generators/draw_until.hpp>
#include <data/generators/stubs.hpp>
#include <data/graph_shape.hpp>

namespace gnnbench {

namespace {

/// Ids of positions in the ascending degrees: shuffled, or the positions themselves.
std::vector<std::int32_t> ids_of(const GraphWish& wish) {
    if (wish.shuffled) return shuffled_ids(wish.vertices, wish.seed);
    std::vector<std::int32_t> ids(usize(wish.vertices));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

/// Element ids[i] is by_position[i].
std::vector<std::int32_t> by_id(std::span<const std::int32_t> ids, std::span<const std::int32_t> by_position) {
    std::vector<std::int32_t> of(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) of[usize(ids[i])] = by_position[i];
    return of;
}

void rename(std::vector<std::int32_t>& positions, std::span<const std::int32_t> ids) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < std::ssize(positions); ++i) positions[usize(i)] = ids[usize(positions[usize(i)])];
}

RawDataset with_report(const GraphWish& wish, RawGraph graph, const std::vector<double>& clustering) {
    RawDataset data;
    data.graph = std::move(graph);
    const auto shape = measure_shape(data.graph.view(), wish.seed);
    data.report = to_json(compare_shape(degree_sequence(wish.profile, wish.vertices), clustering, shape));
    return data;
}

}  // namespace

RawGraph bter_graph(const GraphWish& wish) {
    const auto degrees = degree_sequence(wish.profile, wish.vertices);
    const auto blocks = affinity_blocks(degrees, clustering_by_degree(wish.profile));
    const auto ids = ids_of(wish);
    auto inside = draw_blocks(blocks, wish.seed);
    rename(inside.source, ids);
    rename(inside.target, ids);
    const auto degree_of = by_id(ids, degrees), block_of = by_id(ids, block_of_position(blocks, degrees.size()));
    return match_stubs({.given = std::move(inside), .degrees = degree_of, .group = block_of, .seed = wish.seed});
}

RawGraph configuration_graph(const GraphWish& wish) {
    const auto degree_of = by_id(ids_of(wish), degree_sequence(wish.profile, wish.vertices));
    return match_stubs({.given = {}, .degrees = degree_of, .seed = wish.seed});
}

RawDataset make_bter(const GraphWish& wish) {
    return with_report(wish, bter_graph(wish), clustering_by_degree(wish.profile));
}

RawDataset make_configuration(const GraphWish& wish) { return with_report(wish, configuration_graph(wish), {}); }

}  // namespace gnnbench
