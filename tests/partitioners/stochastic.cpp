// The stochastic hypergraph model's parts: how many nets, the nets of batches, the expectation beside them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gnnbench/batches/sampled.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

#include "contract/graphs.hpp"
#include "merged_nets.hpp"
#include "unsampled.hpp"
#include "nets_needed.hpp"
#include "partitioned.hpp"
#include "partitioning/expected_volume.hpp"

using namespace gnnbench;
using namespace gnnbench::stochastic;

namespace {

std::vector<graphs::NamedGraph> small_graphs() {
    return {graphs::grid(3),
            graphs::directed_cycle(7),
            graphs::directed_star(9),
            graphs::disconnected(2),
            graphs::looped_path(6),
            graphs::without_edges(5),
            graphs::directed_random(10, 40, false)};
}

std::vector<hypergraph::Weight> ones(const GraphView& graph) {
    return std::vector<hypergraph::Weight>(usize(graph.vertices()), 1);
}

std::vector<Part> random_parts(const GraphView& graph, Part parts, std::uint64_t seed) {
    RandomStream random(seed, Draw::partition, 0);
    std::vector<Part> part_of(usize(graph.vertices()));
    for (Part& p : part_of) p = static_cast<Part>(random.below(static_cast<std::uint64_t>(parts)));
    return part_of;
}

/// Rows that a forward product moves where only the vertices of `present` (bits) are there.
std::int64_t volume_among(const GraphView& graph, const std::vector<Part>& part_of, std::uint32_t present) {
    std::int64_t rows = 0;
    for (std::int64_t j = 0; j < graph.vertices(); ++j) {
        if (!(present >> j & 1)) continue;
        std::uint64_t parts = 0;
        for (std::int64_t i = 0; i < graph.vertices(); ++i)
            for (std::int64_t e = graph.indptr[usize(i)]; e < graph.indptr[usize(i) + 1]; ++e)
                if (graph.indices[usize(e)] == j && (present >> i & 1) && part_of[usize(i)] != part_of[usize(j)])
                    parts |= std::uint64_t{1} << part_of[usize(i)];
        rows += std::popcount(parts);
    }
    return rows;
}

}  // namespace

TEST_CASE("equation 14 asks for 46,857 nets at 27 parts, theta 0.1 and delta 0.5") {
    CHECK(std::ceil(nets_needed(27, 0.1, 0.5)) == 46857);
    CHECK(nets_needed(1, 0.1, 0.5) == 0);
    CHECK(nets_needed(2, 1, 2 / std::exp(4.0)) == Approx(2));  // ln(2/δ) = 4
}

TEST_CASE("the expected volume is the mean over all batches, each with its probability") {
    for (const graphs::NamedGraph& g : small_graphs()) {
        const auto n = static_cast<int>(g.view().vertices());
        for (const double q : {0.06, 0.5, 1.0}) {
            const std::vector<Part> part_of = random_parts(g.view(), 3, 5);
            double mean = 0;
            for (std::uint32_t present = 0; present < 1u << n; ++present) {
                const int there = std::popcount(present);
                mean += std::pow(q, there) * std::pow(1 - q, n - there) *
                        static_cast<double>(volume_among(g.view(), part_of, present));
            }
            INFO(g.name << ", q = " << q);
            CHECK(bench::expected_volume(g.view(), part_of, 3, q) == Approx(mean).margin(1e-12));
        }
    }
}

TEST_CASE("the connectivity of the sample's nets is the volume of its batches") {
    for (const graphs::NamedGraph& g : small_graphs())
        for (const std::int64_t batch : {1, 4, 100}) {
            const VertexSamples source(g.view().vertices(), {.batch_vertices = batch, .seed = 3});
            const std::int64_t batches = 6;
            const MergedNets sample = merge_nets(g.view(), source, {.batches = batches}, ones(g.view()));
            const std::vector<Part> part_of = random_parts(g.view(), 3, 11);
            std::int64_t volume = 0, vertices = 0;
            for (std::int64_t b = 0; b < batches; ++b) {
                std::uint32_t present = 0;
                for (const GlobalId v : source.vertices(b)) present |= 1u << value(v);
                volume += volume_among(g.view(), part_of, present);
                vertices += std::popcount(present);
            }
            INFO(g.name << ", batches of " << batch);
            CHECK(connectivity_minus_one(sample.hypergraph, part_of, 3) == volume);
            CHECK(sample.nets == vertices);
        }
}

TEST_CASE("a sample has as many nets as asked for, unless there are none to draw") {
    const graphs::NamedGraph g = graphs::grid(8);
    const VertexSamples source(64, {.batch_vertices = 16, .seed = 5});
    CHECK(merge_nets(g.view(), source, {.batches = 0, .nets = 33}, ones(g.view())).nets == 48);
    CHECK(merge_nets(g.view(), source, {.batches = 5, .nets = 33}, ones(g.view())).nets == 80);
    const NeighbourSamples nothing(g.view(), {}, {.batch_seeds = 4, .fan_out = 2, .hops = 1, .seed = 1});
    CHECK(merge_nets(g.view(), nothing, {.batches = 3, .nets = 100}, ones(g.view())).nets == 0);
}

TEST_CASE("without a sample, the expectation is the cut of directed edges") {
    for (const graphs::NamedGraph& g : small_graphs()) {
        const VertexSamples source(g.view().vertices(), {.batch_vertices = 1, .seed = 3});
        const MergedNets nothing = merge_nets(g.view(), source, {.batches = 4}, ones(g.view()));
        CHECK(std::count(nothing.seen.begin(), nothing.seen.end(), true) == 0);
        const hypergraph::Hypergraph nets = with_expected_nets(g.view(), nothing);
        for (const std::uint64_t seed : {1, 2, 3}) {
            const std::vector<Part> part_of = random_parts(g.view(), 3, seed);
            const Partition partition{.parts = 3, .part_of = part_of, .column_part_of = {}};
            INFO(g.name << ", seed " << seed);
            CHECK(connectivity_minus_one(nets, part_of, 3) == measure_quality(g.view(), partition).edge_cut);
        }
    }
}

TEST_CASE("where the sample has every vertex, it is all there is") {
    for (const graphs::NamedGraph& g : small_graphs()) {
        const VertexSamples source(g.view().vertices(), {.batch_vertices = 1000, .seed = 3});
        const hypergraph::Hypergraph nets =
            with_expected_nets(g.view(), merge_nets(g.view(), source, {.batches = 1}, ones(g.view())));
        const std::vector<Part> part_of = random_parts(g.view(), 3, 2);
        const Partition partition{.parts = 3, .part_of = part_of, .column_part_of = {}};
        INFO(g.name);
        CHECK(connectivity_minus_one(nets, part_of, 3) ==
              measure_quality(g.view(), partition).connectivity_minus_one);
    }
}

TEST_CASE("every entry counts once that no batch has, and as often as batches have it else") {
    const graphs::NamedGraph g = graphs::directed_random(40, 200, false);
    const VertexSamples source(40, {.batch_vertices = 12, .seed = 5});
    constexpr std::int64_t batches = 4;
    const MergedNets sample = merge_nets(g.view(), source, {.batches = batches}, ones(g.view()));
    const auto met = std::count(sample.seen.begin(), sample.seen.end(), true);
    REQUIRE(met > 0);
    REQUIRE(met < g.view().edges());
    std::vector<Part> apart(40);  // every vertex a part of its own: each entry of a batch is cut
    std::iota(apart.begin(), apart.end(), 0);
    std::int64_t expected = 0;
    for (std::int64_t row = 0; row < 40; ++row)
        for (std::int64_t e = g.indptr[usize(row)]; e < g.indptr[usize(row) + 1]; ++e) {
            const std::int64_t column = g.indices[usize(e)];
            if (column == row) continue;
            std::int64_t times = 0;
            for (std::int64_t b = 0; b < batches; ++b) {
                const std::vector<GlobalId> batch = source.vertices(b);
                times += std::binary_search(batch.begin(), batch.end(), GlobalId{row}) &&
                         std::binary_search(batch.begin(), batch.end(), GlobalId{column});
            }
            CHECK(sample.seen[usize(e)] == (times > 0));
            expected += std::max<std::int64_t>(1, times);
        }
    CHECK(connectivity_minus_one(with_expected_nets(g.view(), sample), apart, 40) == expected);
}

TEST_CASE("vertices without a net go where they are told, and the others stay") {
    for (const graphs::NamedGraph& g : small_graphs()) {
        const std::int64_t n = g.view().vertices();
        const VertexSamples source(n, {.batch_vertices = std::max<std::int64_t>(1, n / 5), .seed = 3});
        const MergedNets sample = merge_nets(g.view(), source, {.batches = 1}, ones(g.view()));
        const WithoutNet unsampled = without_net(sample.hypergraph);
        std::vector<bool> without(usize(n), true);
        for (const hypergraph::Id v : sample.hypergraph.pins) without[v] = false;
        CHECK(std::ssize(unsampled.vertices) == std::count(without.begin(), without.end(), true));
        const Partition before{.parts = 3, .part_of = random_parts(g.view(), 3, 7), .column_part_of = {}};
        const hypergraph::Weight limit = (n + 2) / 3 + 1;
        for (const Unsampled how : {Unsampled::balance, Unsampled::random, Unsampled::neighbours}) {
            INFO(g.name << ", " << static_cast<int>(how));
            Partition after = before;
            place(g.view(), unsampled, how, limit, 5, after);
            std::vector<std::int64_t> placed(3), kept(3);
            for (std::int64_t v = 0; v < n; ++v) {
                if (!without[usize(v)]) CHECK(after.part_of[usize(v)] == before.part_of[usize(v)]);
                ++placed[usize(after.part_of[usize(v)])];
                if (!without[usize(v)]) ++kept[usize(before.part_of[usize(v)])];
            }
            if (how == Unsampled::balance) {
                CHECK(after.part_of == before.part_of);
                continue;
            }
            // Room for all of them: no part is fuller than its limit, unless others had filled it.
            for (Part p = 0; p < 3; ++p) CHECK(placed[usize(p)] <= std::max(kept[usize(p)], limit));
        }
    }
}

TEST_CASE("a vertex without a net joins the part that has most of its row's columns") {
    // Vertex 4 aggregates from 0, 1, 2 and 3, of which three are in part 1.
    graphs::NamedGraph g;
    g.indptr = {0, 0, 0, 0, 0, 4};
    g.indices = {0, 1, 2, 3};
    const WithoutNet alone{.vertices = {4}, .weight = {1, 1, 1, 1, 1}};
    Partition partition{.parts = 2, .part_of = {0, 1, 1, 1, 0}, .column_part_of = {}};
    place(g.view(), alone, Unsampled::neighbours, 4, 1, partition);
    CHECK(partition.part_of[4] == 1);
    place(g.view(), alone, Unsampled::neighbours, 3, 1, partition);  // part 1 is full
    CHECK(partition.part_of[4] == 0);
}
