// What partitioners that run over ranks must keep at any number of them: the contract of partitioners, from their own rows
// alone. Rows of others hold no column that exists here, so that reading one is a crash or a wrong part.
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/process_group.hpp>
#include <gnnbench/undirected.hpp>
#include <gnnbench/usize.hpp>

#include "contract/graphs.hpp"
#include "mpi/mpi.hpp"
#include "plugin/loader.hpp"

using namespace gnnbench;
using graphs::NamedGraph;

namespace {

const PluginCatalog& catalog() {
    static const PluginCatalog found;
    return found;
}

struct Distributed {
    std::string name;
    std::unique_ptr<Partitioner> partitioner;
    std::span<const ParamDecl> declared;

    /// Little is gathered on one rank, so that graphs of a test are coarsened over ranks.
    Params with(std::vector<std::pair<std::string, std::string>> settings) const {
        settings.emplace(settings.begin(), "coarse_entries", "3000");
        Params p(declared);
        for (const auto& [name_of_param, text] : settings)
            for (const ParamDecl& d : declared)
                if (d.name == name_of_param) p.set(d, text);
        return p;
    }

    /// The whole partition, on every rank.
    std::vector<Part> over(const ProcessGroup& group, const NamedGraph& graph, Part parts, const Params& params,
                           std::uint64_t seed) const {
        NamedGraph own = graph;
        const RowRange rows = rows_of_rank(graph.view(), group.size(), group.rank());
        for (std::int64_t e = 0; e < std::ssize(own.indices); ++e)
            if (e < graph.indptr[usize(rows.first)] || e >= graph.indptr[usize(rows.last)])
                own.indices[usize(e)] = -1;
        const DatasetView data = graphs::bare(own.view());
        const Partition p = partitioner->partition({.dataset = data,
                                                    .model = {},
                                                    .need = {.parts = parts},
                                                    .params = params,
                                                    .seed = seed,
                                                    .processes = &group});
        REQUIRE(std::ssize(p.part_of) == rows.count());
        std::vector<Part> all;
        const char* const bytes = reinterpret_cast<const char*>(p.part_of.data());
        for (const std::string& of_rank : group.all_gather({bytes, p.part_of.size() * sizeof(Part)})) {
            const auto* const first = reinterpret_cast<const Part*>(of_rank.data());
            all.insert(all.end(), first, first + of_rank.size() / sizeof(Part));
        }
        return all;
    }
};

std::vector<Distributed> distributed() {
    std::vector<Distributed> all;
    for (const std::string& name : catalog().names(PluginKind::partitioner)) {
        auto partitioner = catalog().partitioner(name);
        if (!partitioner->distributed()) continue;
        all.push_back({name, std::move(partitioner), catalog().find(PluginKind::partitioner, name).params});
    }
    return all;
}

std::vector<NamedGraph> some_graphs() {
    return {graphs::grid(1),
            graphs::grid(3),
            graphs::directed_star(9),
            graphs::disconnected(12),
            graphs::without_edges(6),
            graphs::without_edges(0),
            graphs::clique(9),
            graphs::path(30),
            graphs::known_symmetric(graphs::grid(45)),
            graphs::directed_random(2100, 9000, false)};
}

std::vector<std::int64_t> loads(const NamedGraph& g, const std::vector<Part>& part_of, Part parts, bool nonzeros) {
    const std::vector<std::int64_t> weight =
        nonzeros ? row_nonzeros(g.view()) : std::vector<std::int64_t>(part_of.size(), 1);
    std::vector<std::int64_t> load(usize(parts));
    for (std::size_t v = 0; v < weight.size(); ++v) load[usize(part_of[v])] += weight[v];
    return load;
}

std::int64_t volume(const NamedGraph& g, const std::vector<Part>& part_of, Part parts) {
    return measure_quality(g.view(), {.parts = parts, .part_of = part_of, .column_part_of = {}})
        .connectivity_minus_one;
}

}  // namespace

TEST_CASE("ranks' rows follow each other, and weigh about the same") {
    for (const NamedGraph& g : some_graphs())
        for (int ranks = 1; ranks <= 9; ++ranks) {
            INFO(g.name << " over " << ranks << " ranks");
            std::int64_t next = 0, heaviest_row = 0;
            for (std::int64_t v = 0; v < g.view().vertices(); ++v)
                heaviest_row = std::max(heaviest_row, g.indptr[usize(v) + 1] - g.indptr[usize(v)] + 1);
            const std::int64_t whole = g.view().vertices() + g.view().edges();
            for (int r = 0; r < ranks; ++r) {
                const RowRange rows = rows_of_rank(g.view(), ranks, r);
                CHECK(rows.first == next);
                CHECK(rows.last >= rows.first);
                next = rows.last;
                CHECK(rows.count() + g.indptr[usize(rows.last)] - g.indptr[usize(rows.first)] <=
                      whole / ranks + 1 + heaviest_row);
            }
            CHECK(next == g.view().vertices());
        }
}

TEST_CASE("a partition over ranks is valid, from each rank's own rows alone, and the same again") {
    const ProcessGroup world = mpi_world();
    REQUIRE_FALSE(distributed().empty());
    for (const Distributed& d : distributed())
        for (const NamedGraph& g : some_graphs())
            for (const Part parts : {1, 2, 7}) {
                INFO(d.name << " on " << g.name << ", " << parts << " parts");
                const Params params = d.with({{"imbalance", "0.05"}});
                const GraphSize size{.vertices = g.view().vertices(), .edges = g.view().edges()};
                if (!d.partitioner->why_unsupported(size, {.parts = parts}, params).empty()) continue;
                try {
                    const std::vector<Part> part_of = d.over(world, g, parts, params, 42);
                    CHECK(std::ssize(part_of) == size.vertices);
                    CHECK(std::ranges::all_of(part_of, [&](Part p) { return p >= 0 && p < parts; }));
                    CHECK((d.over(world, g, parts, params, 42) == part_of));
                    const auto count = loads(g, part_of, parts, false);
                    CHECK((size.vertices == 0 || *std::ranges::min_element(count) > 0));
                } catch (const Unsupported& refused) {  // which all ranks throw
                    CHECK_THAT(refused.what(), Catch::Contains("would do"));
                }
            }
}

TEST_CASE("parts made over ranks weigh what the imbalance allows") {
    const ProcessGroup world = mpi_world();
    for (const Distributed& d : distributed())
        for (const NamedGraph& g : {graphs::known_symmetric(graphs::grid(45)), graphs::disconnected(500)})
            for (const char* weights : {"none", "nonzeros"}) {
                INFO(d.name << " on " << g.name << ", weights " << weights);
                const Params params = d.with({{"weights", weights}, {"imbalance", "0.05"}});
                const auto load = loads(g, d.over(world, g, 8, params, 3), 8, weights == std::string("nonzeros"));
                const auto total = std::reduce(load.begin(), load.end());
                CHECK(static_cast<double>(*std::ranges::max_element(load)) <=
                      1.05 * static_cast<double>(total) / 8 + 5);
            }
}

TEST_CASE("distributed-hypergraph: the same partition at any number of ranks, about as good as hypergraph's") {
    const ProcessGroup world = mpi_world();
    for (const Distributed& d : distributed()) {
        if (d.name != "distributed-hypergraph") continue;
        for (const NamedGraph& g : some_graphs()) {
            if (g.view().vertices() < 2000) continue;
            INFO(g.name);
            const Params params = d.with({{"imbalance", "0.03"}, {"coarse_entries", "8000"}});
            const std::vector<Part> over_ranks = d.over(world, g, 8, params, 5);
            const DatasetView data = graphs::bare(g.view());
            const PartitionTask alone{
                .dataset = data, .model = {}, .need = {.parts = 8}, .params = params, .seed = 5};
            CHECK((d.partitioner->partition(alone).part_of == over_ranks));
            Params of_serial(catalog().find(PluginKind::partitioner, "hypergraph").params);
            const PartitionTask serial{
                .dataset = data, .model = {}, .need = {.parts = 8}, .params = of_serial, .seed = 5};
            const auto best = catalog().partitioner("hypergraph")->partition(serial).part_of;
            CHECK(static_cast<double>(volume(g, over_ranks, 8)) <= 1.1 * static_cast<double>(volume(g, best, 8)));
        }
    }
}
