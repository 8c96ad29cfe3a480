// degree-balanced, bfs, libra, and what metis counts.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/undirected.hpp>

#include "contract/partitioner_case.hpp"
#include "partitioners/metis/symmetric.hpp"

using namespace gnnbench;
using namespace gnnbench::partitioners;
using Catch::Matchers::Contains;

namespace {

std::vector<std::int64_t> loads(const Partition& p, const std::vector<std::int64_t>& weight) {
    std::vector<std::int64_t> sum(static_cast<std::size_t>(p.parts));
    for (std::size_t v = 0; v < weight.size(); ++v) sum[static_cast<std::size_t>(p.part_of[v])] += weight[v];
    return sum;
}

std::vector<graphs::NamedGraph> uneven_graphs() {
    return {graphs::directed_star(40), graphs::directed_random(200, 3000, false), graphs::disconnected(9),
            graphs::clique(17), graphs::looped_path(31)};
}

}  // namespace

TEST_CASE("bfs and degree-balanced: no part exceeds its share of the nonzeros by more than the heaviest row",
          "[contract][partitioner]") {
    for (const char* name : {"bfs", "degree-balanced"}) {
        const Candidate c = candidate(name);
        for (const auto& g : uneven_graphs())
            for (const Part parts : {2, 3, 8}) {
                INFO(name << " on " << g.name << ", " << parts << " parts");
                const auto weight = row_nonzeros(g.view());
                const auto sum = loads(c.partition(g.view(), {.parts = parts}, c.defaults(), 1), weight);
                const auto total = std::reduce(weight.begin(), weight.end());
                CHECK(*std::ranges::max_element(sum) * parts <= total + *std::ranges::max_element(weight) * parts);
            }
    }
}

TEST_CASE("degree-balanced: longest processing time first, by hand", "[contract][partitioner]") {
    // Rows of Â with 4, 3, 2, 2, 1 nonzeros: 4 to part 0, 3 to part 1, 2 to part 1, 2 to part 0, 1 to part 1.
    const auto g =
        graphs::from_entries("rows of 4 3 2 2 1", 5, {{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 2}, {2, 0}, {3, 0}});
    const Candidate c = candidate("degree-balanced");
    CHECK(c.partition(g.view(), {.parts = 2}, c.defaults(), 1).part_of == std::vector<Part>{0, 1, 1, 0, 1});
}

TEST_CASE("degree-balanced: deals out train vertices evenly where asked to", "[contract][partitioner]") {
    const auto g = graphs::directed_random(200, 3000, false);
    std::vector<Split> split(200, Split::test);
    for (std::size_t v = 0; v < 30; ++v) split[v] = Split::train;
    DatasetView data = graphs::bare(g.view());
    data.split = split;
    const Candidate c = candidate("degree-balanced");
    const Params params = c.with("train", "true");
    const Partition p =
        c.partitioner->partition({.dataset = data, .model = {}, .need = {.parts = 4}, .params = params});
    std::vector<std::int64_t> trained(200);
    for (std::size_t v = 0; v < 30; ++v) trained[v] = 1;
    const auto count = loads(p, trained);
    CHECK(*std::ranges::max_element(count) - *std::ranges::min_element(count) <= 1);
    const auto weight = row_nonzeros(g.view());
    const auto sum = loads(p, weight);
    CHECK(*std::ranges::max_element(sum) <= std::reduce(weight.begin(), weight.end()) / 4 + 30);
    CHECK_THROWS_AS(c.partition(g.view(), {.parts = 4}, params, 1), Unsupported);
}

TEST_CASE("bfs: cuts a path between blocks only, whatever the ids", "[contract][partitioner]") {
    // A path whose ids jump: 0-7-14-… modulo 30.
    graphs::Entries e;
    for (std::int32_t i = 0; i + 1 < 30; ++i) e.emplace_back(i * 7 % 30, (i + 1) * 7 % 30);
    const auto g = graphs::from_entries("shuffled path", 30, e);
    const Candidate c = candidate("bfs");
    for (const char* weights : {"none", "nonzeros"}) {
        const Partition p = c.partition(g.view(), {.parts = 5}, c.with("weights", weights), 1);
        CHECK(measure_quality(g.view(), p).edge_cut == 4);
    }
    check_even(c.partition(g.view(), {.parts = 5}, c.with("weights", "none"), 1).part_of, 5);
}

TEST_CASE("metis: a graph that made symmetric has too many entries is not served", "[contract][partitioner]") {
    const auto star = graphs::directed_star(9);  // 8 entries, 16 made symmetric
    CHECK(symmetrised(star.view(), 16).neighbours.size() == 16);
    CHECK_THROWS_AS(symmetrised(star.view(), 15), Unsupported);
    CHECK_THROWS_WITH(symmetrised(star.view(), 15), Contains("more than 15"));
}

TEST_CASE("libra: every edge goes where its rule says, and every root is a copy", "[contract][partitioner]") {
    const Candidate c = candidate("libra");
    for (const auto& g : graphs::of_every_kind())
        for (const Part parts : {1, 2, 3, 7, 70}) {
            INFO(g.name << ", " << parts << " parts");
            const GraphView graph = g.view();
            const PartitionNeed need{.parts = parts, .vertex_cut = true};
            const Partition p = c.partition(graph, need, c.defaults(), 5);
            std::vector<std::int64_t> load(usize(parts)), degree(usize(graph.vertices()));
            std::vector<std::set<Part>> at(degree.size());
            std::set<Part> all;
            for (Part part = 0; part < parts; ++part) all.insert(part);
            for (std::size_t v = 0; v < degree.size(); ++v)
                for (auto e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e)
                    ++degree[v], ++degree[usize(graph.indices[usize(e)])];
            for (std::size_t v = 0; v < degree.size(); ++v)
                for (auto e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) {
                    const auto u = usize(graph.indices[usize(e)]);
                    std::set<Part> both, where;
                    std::ranges::set_intersection(at[u], at[v], std::inserter(both, both.end()));
                    if (at[u].empty() && at[v].empty())
                        where = all;
                    else if (at[u].empty() || at[v].empty())
                        where = at[u].empty() ? at[v] : at[u];
                    else
                        where = !both.empty() ? both : degree[u] < degree[v] ? at[u] : at[v];
                    const Part chosen = p.part_of_entry[usize(e)];
                    CHECK(where.contains(chosen));
                    for (const Part other : where) CHECK(load[usize(chosen)] <= load[usize(other)]);
                    ++load[usize(chosen)];
                    at[u].insert(chosen);
                    at[v].insert(chosen);
                }
            for (std::size_t v = 0; v < degree.size(); ++v)
                if (!at[v].empty()) CHECK(at[v].contains(p.part_of[v]));
        }
    const auto g = graphs::grid(20);
    const PartitionNeed need{.parts = 4, .vertex_cut = true};
    const Partition one = c.partition(g.view(), need, c.defaults(), 1);
    CHECK(c.partition(g.view(), need, c.defaults(), 2).part_of_entry != one.part_of_entry);
    CHECK(c.partition(g.view(), need, c.with("seed", "1"), 2).part_of_entry == one.part_of_entry);
    CHECK(c.partition(g.view(), need, c.with("edge_order", "random"), 1).part_of_entry != one.part_of_entry);
    CHECK_THAT(why_not_served(*c.partitioner, size_of(g), {.parts = 4}, c.defaults()),
               Contains("each vertex in one part"));
    CHECK_THAT(why_not_served(*candidate("metis").partitioner, size_of(g), need, candidate("metis").defaults()),
               Contains("needs a vertex cut"));
    CHECK_THAT(why_not_served(*c.partitioner, size_of(g), {.parts = 4, .column_parts = 2, .vertex_cut = true},
                              c.defaults()),
               Contains("columns"));
}
