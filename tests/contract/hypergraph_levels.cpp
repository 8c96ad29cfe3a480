// The hypergraph partitioner's stages against independent recounts and exhaustive search.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>
#include <omp.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "balance.hpp"
#include "clustering.hpp"
#include "contraction.hpp"
#include "contract/hypergraph_case.hpp"
#include "gains.hpp"
#include "jet.hpp"
#include "multilevel.hpp"
#include "random.hpp"
#include "two_way_fm.hpp"

using namespace gnnbench;
using namespace gnnbench::hypergraph;
using Catch::Matchers::Contains;

namespace {

std::int64_t by_host(const graphs::NamedGraph& g, const std::vector<PartId>& part_of, PartId parts) {
    return measure_quality(g.view(), {.parts = parts, .part_of = part_of, .column_part_of = {}})
        .connectivity_minus_one;
}

/// The least connectivity−1 of all partitions within the limit, by trying each.
std::int64_t optimum(const Hypergraph& h, PartId parts, Weight limit) {
    std::vector<PartId> part_of(h.vertex_count());
    std::int64_t best = -1;
    for (;;) {
        if (heaviest(h, part_of, parts) <= limit) {
            const std::int64_t cut = by_sets(h, part_of);
            if (best < 0 || cut < best) best = cut;
        }
        Id v = 0;
        while (v < h.vertex_count() && ++part_of[v] == parts) part_of[v++] = 0;
        if (v == h.vertex_count()) return best;
    }
}

/// Nets as a set: pins and weight.
std::multiset<std::pair<std::vector<Id>, NetWeight>> nets_by_pins(const Hypergraph& h) {
    std::multiset<std::pair<std::vector<Id>, NetWeight>> nets;
    for (Id e = 0; e < h.net_count(); ++e)
        nets.emplace(std::vector<Id>(h.pins_of(e).begin(), h.pins_of(e).end()), h.net_weight[e]);
    return nets;
}

}  // namespace

TEST_CASE("column nets: rows with an entry in the column, and the column's own", "[contract][hypergraph]") {
    // Entries (row, column) of 5 × 5; row 3 stores its diagonal. Column 4 has no entry: its net would have one pin.
    const auto g = graphs::from_entries("by hand", 5, {{0, 1}, {2, 1}, {3, 3}, {4, 3}, {1, 0}, {4, 0}, {0, 2}});
    const Hypergraph h = column_nets(g.view(), false);
    const std::vector<std::vector<Id>> nets = {{0, 1, 4}, {0, 1, 2}, {0, 2}, {3, 4}};
    REQUIRE(h.net_count() == nets.size());
    for (Id e = 0; e < h.net_count(); ++e)
        CHECK(std::vector<Id>(h.pins_of(e).begin(), h.pins_of(e).end()) == nets[e]);
    CHECK(h.vertex_weight == std::vector<Weight>{3, 2, 2, 1, 3});
    CHECK(h.total_weight == 11);
    CHECK(std::vector<Id>(h.nets_of(4).begin(), h.nets_of(4).end()) == std::vector<Id>{0, 3});
    CHECK(column_nets(g.view(), true).vertex_weight == std::vector<Weight>(5, 1));
}

TEST_CASE("a hypergraph by other names is the same one, its nets in the order of their columns",
          "[contract][hypergraph]") {
    const auto g = random_graph(80, 400, 7);
    const Hypergraph h = column_nets(g.view(), false);
    std::vector<Id> new_of(h.vertex_count());
    for (Id v = 0; v < h.vertex_count(); ++v) new_of[v] = (v * 37 + 11) % h.vertex_count();
    for (const bool columns : {true, false}) {
        Hypergraph renamed = h;
        if (!columns) renamed.column.clear();
        reorder(renamed, new_of);
        std::multiset<std::pair<std::vector<Id>, NetWeight>> expected;
        for (Id e = 0; e < h.net_count(); ++e) {
            std::vector<Id> pins;
            for (const Id v : h.pins_of(e)) pins.push_back(new_of[v]);
            std::sort(pins.begin(), pins.end());
            expected.emplace(pins, h.net_weight[e]);
        }
        CHECK(nets_by_pins(renamed) == expected);
        for (Id v = 0; v < h.vertex_count(); ++v) {
            CHECK(renamed.vertex_weight[new_of[v]] == h.vertex_weight[v]);
            CHECK(renamed.nets_of(new_of[v]).size() == h.nets_of(v).size());
            for (const Id e : renamed.nets_of(new_of[v]))
                CHECK(std::ranges::binary_search(renamed.pins_of(e), new_of[v]));
            CHECK(std::ranges::is_sorted(renamed.nets_of(new_of[v])));
        }
        if (!columns) continue;
        std::vector<Id> of_column(h.net_count());
        std::iota(of_column.begin(), of_column.end(), Id{0});
        std::ranges::sort(of_column, {}, [&](Id e) { return new_of[h.column[e]]; });
        for (Id e = 0; e < h.net_count(); ++e) CHECK(renamed.net_size(e) == h.net_size(of_column[e]));
    }
}

TEST_CASE("connectivity−1 is the host's volume, and stays the same through every level",
          "[contract][hypergraph]") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto g = random_graph(200, 900, seed);
        std::vector<Hypergraph> levels = {column_nets(g.view(), false)};
        std::vector<std::vector<Id>> coarse_of;
        while (levels.back().vertex_count() > 30) {
            const Hypergraph& fine = levels.back();
            const ClusteringLimits limits{.cluster_weight = fine.total_weight / 8,
                                          .clusters = fine.vertex_count() / 2};
            Contraction c = contract(fine, cluster(fine, limits, {}, seed));
            if (c.coarse.vertex_count() == fine.vertex_count()) break;
            CHECK(c.coarse.total_weight ==
                  std::accumulate(c.coarse.vertex_weight.begin(), c.coarse.vertex_weight.end(), Weight{0}));
            coarse_of.push_back(std::move(c.coarse_of));
            levels.push_back(std::move(c.coarse));
        }
        REQUIRE(levels.size() > 2);
        // Contracted at once by the composed numbers, the coarsest is the same hypergraph.
        std::vector<Id> composed = coarse_of[0];
        for (std::size_t l = 1; l < coarse_of.size(); ++l)
            for (Id& v : composed) v = coarse_of[l][v];
        const Hypergraph at_once = contracted(levels[0], composed, levels.back().vertex_count());
        CHECK(at_once.vertex_weight == levels.back().vertex_weight);
        CHECK(nets_by_pins(at_once) == nets_by_pins(levels.back()));
        for (const PartId parts : {2, 5, 40}) {
            std::vector<PartId> part_of = random_parts(levels.back().vertex_count(), parts, seed);
            const std::int64_t coarse = by_sets(levels.back(), part_of);
            for (std::size_t l = levels.size(); l-- > 0;) {
                INFO("seed " << seed << ", " << parts << " parts, level " << l);
                CHECK(by_sets(levels[l], part_of) == coarse);
                CHECK(connectivity_minus_one(levels[l], part_of, parts) == coarse);
                CHECK(Partitioned(levels[l], parts, part_of).connectivity_minus_one() == coarse);
                if (l == 0) break;
                std::vector<PartId> finer;
                for (const Id c : coarse_of[l - 1]) finer.push_back(part_of[c]);
                part_of = std::move(finer);
            }
            CHECK(by_host(g, part_of, parts) == coarse);
        }
    }
}

TEST_CASE("gains are what connectivity−1 falls by, one move or many", "[contract][hypergraph]") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        for (const PartId parts : {2, 3, 9}) {
            INFO("seed " << seed << ", " << parts << " parts");
            const auto g = random_graph(60, 300, seed);
            const Hypergraph h = column_nets(g.view(), false);
            Partitioned p(h, parts, random_parts(h.vertex_count(), parts, seed));
            BestMoveFinder finder(parts);
            for (Id v = 0; v < h.vertex_count(); ++v) {
                const BestMove m = finder.find(p, v);
                std::int64_t best = std::numeric_limits<std::int64_t>::min();
                for (PartId q = 0; q < parts; ++q) {
                    auto moved = p.assignment();
                    if (moved[v] == q) continue;
                    moved[v] = q;
                    best = std::max(best, p.connectivity_minus_one() - by_sets(h, moved));
                }
                if (m.to >= 0)
                    CHECK(m.gain == best);
                else
                    CHECK(best <= 0);
            }
            std::vector<Partitioned::Move> moves;
            for (Id v = 0; v < h.vertex_count(); v += 2) moves.push_back({v, static_cast<PartId>(v % 7) % parts});
            std::erase_if(moves, [&](const auto& m) { return p.part_of(m.vertex) == m.to; });
            std::vector<NetWeight> gains(moves.size());
            std::vector<char> touched(h.net_count());
            auto replayed = p.assignment();
            std::int64_t before = p.connectivity_minus_one();
            p.move_all(moves, gains, touched);
            for (std::size_t i = 0; i < moves.size(); ++i) {
                replayed[moves[i].vertex] = moves[i].to;
                const std::int64_t after = by_sets(h, replayed);
                CHECK(gains[i] == before - after);
                before = after;
            }
            CHECK(p.assignment() == replayed);
            CHECK(p.connectivity_minus_one() == before);
            CHECK(p.heaviest() == heaviest(h, replayed, parts));
        }
}

TEST_CASE("a part may weigh all that its imbalance allows, whatever the fraction in binary",
          "[contract][hypergraph]") {
    Hypergraph h;
    h.vertex_weight.assign(400, 1);
    h.total_weight = 400;
    h.net_offsets = {0};
    h.vertex_offsets.assign(401, 0);
    CHECK(part_limit(h, 4, 0.15) == 115);
    CHECK(part_limit(h, 4, 0.29) == 129);
    CHECK(part_limit(h, 4, 0.149) == 114);
    h.vertex_weight[0] = 115;
    h.vertex_weight.resize(286, 1);
    h.total_weight = 400;
    CHECK(part_limit(h, 4, 0.15) == 115);
}

TEST_CASE("refinement: the cut it says, never worse, within the limit", "[contract][hypergraph]") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto g = random_graph(300, 1500, seed);
        const Hypergraph h = column_nets(g.view(), false);
        for (const PartId parts : {2, 6}) {
            INFO("seed " << seed << ", " << parts << " parts");
            const Weight limit = part_limit(h, parts, 0.05);
            const auto start = pack(h, parts);
            Partitioned p(h, parts, start);
            refine_jet(p, limit, fast.networks);
            CHECK(p.connectivity_minus_one() == by_sets(h, p.assignment()));
            CHECK(p.connectivity_minus_one() < by_sets(h, start));
            CHECK(heaviest(h, p.assignment(), parts) <= limit);
        }
        const BisectionGoal goal{.target = {h.total_weight / 2, h.total_weight / 2},
                                 .limit = {h.total_weight * 6 / 11, h.total_weight * 6 / 11}};
        auto side = grow(h, goal, static_cast<Id>(seed));
        const std::int64_t grown = by_sets(h, side);
        const std::int64_t cut = refine_two_way(h, goal, side, 10);
        CHECK(cut == by_sets(h, side));
        CHECK(by_sets(h, side) <= grown);
        CHECK(heaviest(h, side, 2) <= goal.limit[0]);
    }
}

TEST_CASE("tiny hypergraphs: near the optimum of exhaustive search", "[contract][hypergraph]") {
    double ours = 0, best = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
        for (const PartId parts : {2, 3}) {
            const auto g = random_graph(9, 22, seed);
            const Hypergraph h = column_nets(g.view(), false);
            const Weight limit = part_limit(h, parts, 0.3);
            const auto part_of = partition_multilevel(h, parts, limit, fast, seed);
            INFO("seed " << seed << ", " << parts << " parts, limit " << limit);
            CHECK(heaviest(h, part_of, parts) <= limit);
            const std::int64_t least = optimum(h, parts, limit);
            CHECK(by_sets(h, part_of) >= least);
            CHECK(by_sets(h, part_of) <= 1.5 * static_cast<double>(least) + 1);
            ours += static_cast<double>(by_sets(h, part_of));
            best += static_cast<double>(least);
        }
    INFO("all together " << ours << ", optimum " << best);
    CHECK(ours <= 1.1 * best);
}

TEST_CASE("any number of threads gives the same partition; the limit holds", "[contract][hypergraph]") {
    const auto g = random_graph(2500, 15000, 3);
    const Hypergraph h = column_nets(g.view(), false);
    const int threads = omp_get_max_threads();
    for (const PartId parts : {2, 7, 50}) {
        // Four columns are a quarter of all entries, but no row is long: every imbalance can be met.
        const Weight limit = part_limit(h, parts, 0.01);
        CHECK(static_cast<double>(limit) <= 1.01 * std::ceil(static_cast<double>(h.total_weight) / parts));
        std::vector<std::vector<PartId>> found;
        for (const int count : {1, 2, 3}) {
            omp_set_num_threads(count);
            found.push_back(partition_multilevel(h, parts, limit, fast, 5));
            CHECK(heaviest(h, found.back(), parts) <= limit);
        }
        omp_set_num_threads(threads);
        CHECK(found[0] == found[1]);
        CHECK(found[0] == found[2]);
        CHECK(by_host(g, found[0], parts) < by_host(g, random_parts(h.vertex_count(), parts, 1), parts));
    }
}

TEST_CASE("known shapes: two cliques, a path, a star's heavy row", "[contract][hypergraph]") {
    graphs::Entries e = {{49, 50}};
    for (std::int32_t first : {0, 50})
        for (std::int32_t i = 0; i < 50; ++i)
            for (std::int32_t j = 0; j < 50; ++j) e.emplace_back(first + i, first + j);
    const auto barbell = graphs::from_entries("barbell", 100, e);
    const Hypergraph h = column_nets(barbell.view(), false);
    CHECK(by_sets(h, partition_multilevel(h, 2, part_limit(h, 2, 0.01), fast, 1)) == 1);

    e.clear();
    for (std::int32_t v = 0; v + 1 < 400; ++v) e.emplace_back(v, v + 1);
    const auto path = graphs::from_entries("path", 400, e);
    const Hypergraph of_path = column_nets(path.view(), false);
    CHECK(by_sets(of_path, partition_multilevel(of_path, 4, part_limit(of_path, 4, 0.03), fast, 1)) == 3);

    e.clear();
    for (std::int32_t leaf = 1; leaf < 100; ++leaf) e.emplace_back(0, leaf);
    const auto star = graphs::from_entries("star", 100, e);
    // Row 0 has 100 of 199 nonzeros; a quarter is 50.
    CHECK_THROWS_WITH(part_limit(column_nets(star.view(), false), 4, 0.01),
                      Contains("row 0 has 100 of 199") && Contains("imbalance of 1.00 would do"));
    CHECK_NOTHROW(part_limit(column_nets(star.view(), false), 4, 1.0));
    CHECK_NOTHROW(part_limit(column_nets(star.view(), true), 4, 0));
}
