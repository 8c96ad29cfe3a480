// What every partitioner there is must keep, and what block, random, metis and hypergraph promise on top.
#include <map>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/undirected.hpp>
#include <gnnbench/usize.hpp>

#include "contract/partitioner_case.hpp"

using namespace gnnbench;
using Catch::Matchers::Contains;
using namespace gnnbench::partitioners;
using graphs::NamedGraph;

namespace {

std::vector<NamedGraph> all_graphs() {
    return {graphs::grid(1),           graphs::grid(2),          graphs::grid(3),          graphs::grid(20),
            graphs::directed_cycle(5), graphs::directed_star(9), graphs::disconnected(12), graphs::looped_path(17),
            graphs::without_edges(6),  graphs::without_edges(0), graphs::clique(9),        graphs::path(30)};
}

}  // namespace

TEST_CASE("contract: there are partitioners, and none is refused", "[contract][partitioner]") {
    const auto names = catalog().names(PluginKind::partitioner);
    for (const char* shipped : {"bfs", "block", "command", "degree-balanced", "distributed-hypergraph", "file",
                                "hypergraph", "libra", "metis", "random", "stochastic-hypergraph"})
        CHECK(std::find(names.begin(), names.end(), shipped) != names.end());
    for (const ListedPlugin& p : catalog().list()) {
        if (p.kind != PluginKind::partitioner) continue;
        INFO(p.file << ": " << p.refused);
        CHECK(p.refused.empty());
    }
}

TEST_CASE("contract: a partition is valid, or the reason why there is none is told", "[contract][partitioner]") {
    const GivenFiles files;
    for (const std::string& name : catalog().names(PluginKind::partitioner)) {
        const Candidate c = candidate(name);
        for (const NamedGraph& g : all_graphs())
            for (Part parts : {1, 2, 3, 4, 7, 9, 30, 64})  // 9 and 30: as many as two of the graphs have vertices
                for (Part column_parts : {0, 5}) {
                    INFO(name << " on " << g.name << ", " << parts << " parts, " << column_parts << " of columns");
                    PartitionNeed need = need_of(*c.partitioner, parts);
                    need.column_parts = column_parts;
                    const Params params = files.params(c, g, parts);
                    if (!why_not_served(*c.partitioner, size_of(g), need, params).empty()) continue;

                    Partition p;
                    try {
                        p = c.partition(g.view(), need, params, 42);
                    } catch (const Unsupported& refused) {
                        // Only a graph that turns out not to fit may be refused here, and with what would do.
                        CHECK_THAT(refused.what(), Contains("would do"));
                        continue;
                    }
                    CHECK(p.parts == parts);
                    check_parts(p.part_of, g.view().vertices(), parts);
                    if (column_parts == 0)
                        CHECK(p.column_part_of.empty());
                    else
                        check_parts(p.column_part_of, g.view().vertices(), column_parts);

                    const IndexMap index(p);
                    std::set<GlobalId> seen;
                    for (Part part = 0; part < parts; ++part)
                        for (GlobalId v : index.owned(part)) CHECK(seen.insert(v).second);
                    CHECK(static_cast<std::int64_t>(seen.size()) == g.view().vertices());

                    const Partition again = c.partition(g.view(), need, params, 42);
                    CHECK(again.part_of == p.part_of);
                    CHECK(again.column_part_of == p.column_part_of);
                    CHECK(again.order == p.order);
                    CHECK(again.part_of_entry == p.part_of_entry);
                }
    }
}

TEST_CASE("contract: a part weighs what its imbalance allows, or the reason why none does is told",
          "[contract][partitioner]") {
    for (const std::string& name : catalog().names(PluginKind::partitioner)) {
        const Candidate c = candidate(name);
        const auto declares = [&](std::string_view parameter) {
            return std::ranges::any_of(c.declared, [&](const ParamDecl& d) { return d.name == parameter; });
        };
        if (!declares("imbalance") || !declares("weights") || name == "command") continue;
        for (const NamedGraph& g : {graphs::grid(20), graphs::disconnected(600), graphs::directed_cycle(500)})
            for (const char* weights : {"none", "nonzeros"})
                for (const char* imbalance : {"0.05", "0.2"})
                    for (const Part parts : {2, 3, 8}) {
                        INFO(name << " on " << g.name << ", " << parts << " parts, weights " << weights
                                  << ", imbalance " << imbalance);
                        const Params params = c.with({{"weights", weights}, {"imbalance", imbalance}});
                        const Partition p = c.partition(g.view(), {.parts = parts}, params, 3);
                        std::vector<std::int64_t> weight(usize(g.view().vertices()), 1);
                        if (std::string_view(weights) == "nonzeros") weight = row_nonzeros(g.view());
                        std::vector<std::int64_t> load(usize(parts));
                        for (std::size_t v = 0; v < weight.size(); ++v) load[usize(p.part_of[v])] += weight[v];
                        const auto total = std::reduce(weight.begin(), weight.end());
                        // METIS rounds by a row: no row of these is heavier than 5.
                        const double allowed = (1 + std::stod(imbalance)) * static_cast<double>(total) / parts + 5;
                        CHECK(static_cast<double>(*std::max_element(load.begin(), load.end())) <= allowed);
                    }
    }
}

TEST_CASE("contract: every partitioner serves one part", "[contract][partitioner]") {
    const GivenFiles files;
    for (const std::string& name : catalog().names(PluginKind::partitioner)) {
        const Candidate c = candidate(name);
        for (const NamedGraph& g : all_graphs()) {
            INFO(name << " on " << g.name);
            const Params params = files.params(c, g, 1);
            const PartitionNeed need = need_of(*c.partitioner, 1);
            REQUIRE(why_not_served(*c.partitioner, size_of(g), need, params).empty());
            const Partition p = c.partition(g.view(), need, params, 1);
            CHECK(sizes(p.part_of, 1)[0] == g.view().vertices());
        }
    }
}

TEST_CASE("block and random: even sizes, empty parts where vertices are fewer, columns apart",
          "[contract][partitioner]") {
    for (const char* name : {"block", "random"}) {
        const Candidate c = candidate(name);
        for (const NamedGraph& g : all_graphs())
            for (Part parts : {1, 2, 3, 4, 7, 64}) {
                INFO(name << " on " << g.name << ", " << parts << " parts");
                const PartitionNeed need{.parts = parts, .column_parts = 3};
                REQUIRE(c.partitioner->why_unsupported(size_of(g), need, c.defaults()).empty());
                const Partition p = c.partition(g.view(), need, c.defaults(), 7);
                check_even(p.part_of, parts);
                check_even(p.column_part_of, 3);
            }
    }
}

TEST_CASE("block: consecutive, the first parts larger", "[contract][partitioner]") {
    const Candidate c = candidate("block");
    const Partition p = c.partition(graphs::without_edges(8).view(), {.parts = 3}, c.defaults(), 0);
    CHECK(p.part_of == std::vector<Part>{0, 0, 0, 1, 1, 1, 2, 2});
}

TEST_CASE("random: the seed decides, rows and columns differ", "[contract][partitioner]") {
    const Candidate c = candidate("random");
    const NamedGraph g = graphs::grid(20);
    const PartitionNeed need{.parts = 4, .column_parts = 4};
    const Partition one = c.partition(g.view(), need, c.defaults(), 1);
    const Partition two = c.partition(g.view(), need, c.defaults(), 2);
    CHECK(one.part_of != two.part_of);
    CHECK(one.part_of != one.column_part_of);
    CHECK(c.partition(g.view(), need, c.with("seed", "2"), 1).part_of == two.part_of);
    CHECK_FALSE(std::is_sorted(one.part_of.begin(), one.part_of.end()));
}

TEST_CASE("random: parts that are drawn vary in size as they should, by the seed", "[contract][partitioner]") {
    const Candidate c = candidate("random");
    const NamedGraph g = graphs::grid(60);
    const PartitionNeed need{.parts = 40, .column_parts = 40};
    const Partition p = c.partition(g.view(), need, c.with("sizes", "drawn"), 1);
    CHECK(p.part_of != p.column_part_of);
    CHECK(p.part_of == c.partition(g.view(), need, c.with("sizes", "drawn"), 1).part_of);
    CHECK(p.part_of != c.partition(g.view(), need, c.with("sizes", "drawn"), 2).part_of);
    for (const auto& part_of : {p.part_of, p.column_part_of}) {
        check_parts(part_of, 3600, 40);
        double chi_squared = 0;  // 39 degrees of freedom: 99.98% of draws lie between 13 and 79
        for (const std::int64_t size : sizes(part_of, 40)) {
            const double off = static_cast<double>(size) - 90;
            chi_squared += off * off / 90;
        }
        CHECK(chi_squared > 13);
        CHECK(chi_squared < 79);
    }
}

TEST_CASE("metis: says what it cannot serve", "[contract][partitioner]") {
    const Candidate c = candidate("metis");
    const auto why = [&](const GraphSize& g, const PartitionNeed& need) {
        return c.partitioner->why_unsupported(g, need, c.defaults());
    };
    CHECK_THAT(why({.vertices = 3, .edges = 2}, {.parts = 4}), Contains("4 parts of 3 vertices"));
    CHECK_THAT(why({.vertices = 9, .edges = 2}, {.parts = 2, .column_parts = 2}), Contains("columns"));
    CHECK_THAT(why({.vertices = 100, .edges = std::int64_t{1} << 31}, {.parts = 2}), Contains("32 bits"));
    CHECK(why({.vertices = 4, .edges = 2}, {.parts = 4}).empty());
}

TEST_CASE("metis: as many parts as asked for, also with few vertices a part", "[contract][partitioner]") {
    const Candidate c = candidate("metis");
    for (const NamedGraph& g : {graphs::grid(3), graphs::grid(6), graphs::disconnected(4)})
        for (Part parts = 2; parts <= 9; ++parts)
            for (const char* objective : {"cut", "volume"}) {
                INFO(g.name << ", " << parts << " parts, " << objective);
                const Params params = c.with("objective", objective);
                const Partition p = c.partition(g.view(), {.parts = parts}, params, 3);
                const auto count = sizes(p.part_of, parts);
                CHECK(*std::min_element(count.begin(), count.end()) > 0);
            }
}

TEST_CASE("metis: finds the two halves of a barbell, whatever the direction of its edges",
          "[contract][partitioner]") {
    // Two cliques of 50 joined by one edge; entries only above the diagonal, and self-loops.
    graphs::Entries e = {{49, 50}};
    for (std::int32_t half : {0, 50})
        for (std::int32_t i = 0; i < 50; ++i)
            for (std::int32_t j = i; j < 50; ++j) e.emplace_back(half + i, half + j);
    const NamedGraph barbell = graphs::from_entries("barbell", 100, e);
    const Candidate c = candidate("metis");
    for (const char* objective : {"cut", "volume"})
        for (const char* weights : {"none", "nonzeros"}) {
            INFO(objective << ", weights " << weights);
            Params params = c.with("objective", objective);
            for (const ParamDecl& d : c.declared) {
                if (std::string(d.name) == "weights") params.set(d, weights);
                if (std::string(d.name) == "imbalance") params.set(d, "0.1");
            }
            const Partition p = c.partition(barbell.view(), {.parts = 2}, params, 5);
            CHECK(measure_quality(barbell.view(), p).edge_cut == 1);
        }
}

TEST_CASE("metis: beats a random partition on a grid, within the imbalance asked for", "[contract][partitioner]") {
    const NamedGraph g = graphs::grid(40);
    const Candidate metis = candidate("metis"), random = candidate("random");
    const Partition good = metis.partition(g.view(), {.parts = 8}, metis.defaults(), 1);
    const Partition bad = random.partition(g.view(), {.parts = 8}, random.defaults(), 1);
    const PartitionQuality quality = measure_quality(g.view(), good);
    // A random eighth cuts about 7/8 of all 6240 entries; METIS cuts a few hundred.
    CHECK(quality.edge_cut * 5 < measure_quality(g.view(), bad).edge_cut);
    CHECK(quality.vertex_imbalance <= 1.031);
}

TEST_CASE("metis: nonzero weights balance the entries of rows", "[contract][partitioner]") {
    // A dense clique of 60 vertices and a path of 600: balanced vertices are far from balanced entries.
    graphs::Entries e;
    for (std::int32_t i = 0; i < 60; ++i)
        for (std::int32_t j = 0; j < 60; ++j)
            if (i != j) e.emplace_back(i, j);
    for (std::int32_t v = 60; v < 659; ++v) e.emplace_back(v, v + 1);
    const NamedGraph g = graphs::from_entries("clique and path", 660, graphs::both_ways(e));
    const Candidate c = candidate("metis");
    const auto imbalance = [&](const char* weights) {
        const Partition p = c.partition(g.view(), {.parts = 2}, c.with("weights", weights), 1);
        return measure_quality(g.view(), p).nonzero_imbalance;
    };
    CHECK(imbalance("nonzeros") < 1.2);  // of Â, with its self-loops, it is within 1.03
    CHECK(imbalance("none") > 1.5);
}

TEST_CASE("metis: the nonzeros of parts keep the imbalance asked for, on directed rows of uneven length",
          "[contract][partitioner]") {
    // Row v has the 1 + v % 8 entries before it; rows of the first half store their diagonal, too, which is then one
    // of Â's nonzeros and not two. Counted twice, parts of the other half would be a twelfth too heavy.
    constexpr std::int32_t n = 8000;
    constexpr Part parts = 8;
    const auto length = [](std::int32_t v) { return 1 + v % 8; };
    graphs::Entries e;
    for (std::int32_t v = 0; v < n; ++v) {
        for (std::int32_t k = 1; k <= length(v); ++k) e.emplace_back(v, (v - k + n) % n);
        if (v < n / 2) e.emplace_back(v, v);
    }
    const NamedGraph g = graphs::from_entries("uneven rows", n, e);
    const Candidate c = candidate("metis");
    Params params = c.with("weights", "nonzeros");
    for (const ParamDecl& d : c.declared)
        if (std::string(d.name) == "imbalance") params.set(d, "0.01");
    const Partition p = c.partition(g.view(), {.parts = parts}, params, 1);

    std::vector<std::int64_t> nonzeros(parts);
    for (std::int32_t v = 0; v < n; ++v)
        nonzeros[static_cast<std::size_t>(p.part_of[static_cast<std::size_t>(v)])] += length(v) + 1;
    const double mean = n * 5.5 / parts;
    for (const std::int64_t of_part : nonzeros) {
        INFO(of_part << " nonzeros in a part, " << mean << " in the mean part");
        CHECK(static_cast<double>(of_part) <= 1.01 * mean + 9);  // a row is not cut
    }
}
