#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include <gnnbench/ordering.hpp>

#include "contract/graphs.hpp"

using namespace gnnbench;

namespace {

using Order = std::vector<std::int32_t>;

bool is_permutation_of_all(Order order, std::int64_t vertices) {
    std::ranges::sort(order);
    Order all(static_cast<std::size_t>(vertices));
    std::iota(all.begin(), all.end(), 0);
    return order == all;
}

/// The largest distance of neighbours in the order.
std::int64_t bandwidth(const GraphView& graph, const Order& order) {
    std::vector<std::int64_t> at(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        at[static_cast<std::size_t>(order[i])] = std::ssize(order) - static_cast<std::int64_t>(i);
    std::int64_t most = 0;
    for (std::size_t v = 0; v < order.size(); ++v)
        for (std::int64_t e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e)
            most = std::max(
                most, std::abs(at[v] - at[static_cast<std::size_t>(graph.indices[static_cast<std::size_t>(e)])]));
    return most;
}

/// A path of n vertices whose ids jump by `step`, listed in one direction only.
graphs::NamedGraph jumping_path(std::int32_t n, std::int32_t step) {
    graphs::Entries e;
    for (std::int32_t i = 0; i + 1 < n; ++i) e.emplace_back(i * step % n, (i + 1) * step % n);
    return graphs::from_entries("jumping path", n, e);
}

}  // namespace

TEST_CASE("every order is a permutation, on every kind of graph") {
    for (const auto& g : {graphs::grid(7), graphs::directed_star(9), graphs::disconnected(4),
                          graphs::looped_path(11), graphs::without_edges(5), graphs::without_edges(0),
                          graphs::clique(6), graphs::directed_random(90, 200, false)}) {
        INFO(g.name);
        const std::int64_t n = g.view().vertices();
        const Undirected undirected(g.view());
        CHECK(is_permutation_of_all(random_order(n, 1), n));
        CHECK(is_permutation_of_all(degree_order(g.view()), n));
        CHECK(is_permutation_of_all(breadth_first_order(undirected), n));
        CHECK(is_permutation_of_all(reverse_cuthill_mckee_order(undirected), n));
    }
}

TEST_CASE("reverse Cuthill–McKee puts neighbours close together") {
    const auto path = jumping_path(31, 12);
    CHECK(bandwidth(path.view(), degree_order(path.view())) > 10);
    CHECK(bandwidth(path.view(), reverse_cuthill_mckee_order(Undirected(path.view()))) == 1);
    // A grid of side s has bandwidth s at best.
    const auto grid = graphs::grid(12);
    const auto shuffled = random_order(144, 3);
    graphs::Entries e;
    for (std::size_t v = 0; v < 144; ++v)
        for (auto at = grid.indptr[v]; at < grid.indptr[v + 1]; ++at)
            e.emplace_back(shuffled[v],
                           shuffled[static_cast<std::size_t>(grid.indices[static_cast<std::size_t>(at)])]);
    const auto mixed = graphs::from_entries("mixed grid", 144, e);
    CHECK(bandwidth(mixed.view(), reverse_cuthill_mckee_order(Undirected(mixed.view()))) <= 16);
}

TEST_CASE("breadth-first: from an end of a path, each vertex after a neighbour") {
    const auto path = jumping_path(31, 12);
    const Order order = breadth_first_order(Undirected(path.view()));
    CHECK((order.front() == 0 || order.front() == 30 * 12 % 31));
    CHECK(bandwidth(path.view(), order) == 1);
    const Order star = breadth_first_order(Undirected(graphs::directed_star(9).view()));
    CHECK(star[1] == 0);  // from a leaf over the centre
}

TEST_CASE("by degree: longest rows first, then by id") {
    const auto g = graphs::from_entries("uneven", 5, {{1, 0}, {3, 0}, {3, 1}, {4, 2}});
    CHECK(degree_order(g.view()) == Order{3, 1, 4, 0, 2});
}

TEST_CASE("at random: by seed") {
    CHECK(random_order(50, 1) == random_order(50, 1));
    CHECK(random_order(50, 1) != random_order(50, 2));
}

TEST_CASE("the undirected graph: each neighbour once, no loops, whatever is stored") {
    const auto g = graphs::from_entries("three", 4, {{0, 1}, {1, 0}, {2, 1}, {2, 2}});
    const Undirected u(g.view());
    std::vector<Order> rows(4);
    for (std::int64_t v = 0; v < 4; ++v)
        u.neighbours(v, [&](std::int32_t w) { rows[static_cast<std::size_t>(v)].push_back(w); });
    CHECK(rows == std::vector<Order>{{1}, {0, 2}, {1}, {}});
    CHECK(u.degree(1) == 2);
    CHECK(row_nonzeros(g.view()) == std::vector<std::int64_t>{2, 2, 2, 1});
    const auto grid = graphs::known_symmetric(graphs::grid(3));
    CHECK(Undirected(grid.view()).degree(4) == 4);
}
