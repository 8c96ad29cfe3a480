// Graphs that are only expected: what the source expects, against graphs of the same degrees that are there.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <sys/resource.h>

#include <gnnbench/simulation/expected_graph.hpp>
#include <gnnbench/training/halo.hpp>
#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/training/vertex_order.hpp>
#include <gnnbench/version.hpp>

#include "contract/expected_case.hpp"
#include "training/block_counts.hpp"
#include "data/expectation.hpp"
#include "data/generate.hpp"
#include "worker/expected_workload.hpp"

namespace gnnbench::contract {
namespace {

graphs::NamedGraph configuration(std::int64_t n, double degree, double spread) {
    const RawDataset made =
        generate("configuration", {{"vertices", n}, {"average_degree", degree}, {"spread", spread}});
    graphs::NamedGraph g;
    g.name = "configuration";
    g.symmetric = true;
    g.indptr = made.graph.indptr;
    g.indices = made.graph.indices;
    return g;
}

/// n vertices in `parts` parts of equal sizes, at random.
IndexMap at_random(std::int64_t n, Part parts, std::uint64_t seed) {
    Partition p{.parts = parts, .part_of = std::vector<Part>(usize(n)), .column_part_of = {}};
    std::vector<std::int64_t> order(usize(n));
    for (std::size_t v = 0; v < order.size(); ++v) order[v] = static_cast<std::int64_t>(v);
    RandomStream draw(seed, Draw::partition);
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[draw.below(left)]);
    for (std::int64_t at = 0; at < n; ++at) p.part_of[usize(order[usize(at)])] = block_of(n, parts, at);
    return IndexMap(p);
}

/// Deviations in standard deviations.
struct Deviations {
    std::vector<double> z;
    void add(double found, const Expectation& e, double rounding = 1) {
        z.push_back((found - e.mean) / std::max(e.sd, rounding));
    }
    double mean() const {
        double sum = 0;
        for (const double x : z) sum += x;
        return sum / static_cast<double>(z.size());
    }
    double rms() const {
        double sum = 0;
        for (const double x : z) sum += x * x;
        return std::sqrt(sum / static_cast<double>(z.size()));
    }
    double largest() const {
        double most = 0;
        for (const double x : z) most = std::max(most, std::abs(x));
        return most;
    }
};

ExpectedRun run(const IndexMap& order, Part p) { return {order, order.offset(p), order.offset(p + 1)}; }

TEST_CASE("expected blocks and halos are those of graphs with the same degrees, within their deviations") {
    ModelSpec model;
    model.widths = {4, 4};
    for (const bool loops : {false, true})
        for (const double spread : {0.3, 1.0})
            for (const Part parts : {2, 3, 8}) {
                model.self_loops = loops;
                Deviations off_diagonal, diagonal, needed;
                for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                    const auto g = configuration(4000 + static_cast<std::int64_t>(seed), 12, spread);
                    const std::int64_t n = std::ssize(g.indptr) - 1;
                    const GraphView graph = view(g);
                    const Adjacency a(graph, model);
                    const IndexMap real = at_random(n, parts, seed), expected = sized_parts(n, parts);
                    const ExpectedGraph source(outline_of(g));
                    CHECK(source.entries() == Approx(static_cast<double>(std::ssize(g.indices))));
                    std::vector<Part> all;
                    for (Part p = 0; p < parts; ++p) all.push_back(p);
                    for (Part i = 0; i < parts; ++i) {
                        const auto nonzeros = block_nonzeros(a, real, {i, 1}, all, Direction::forward);
                        const BlockCounts counts(a, real, i);
                        for (Part j = 0; j < parts; ++j) {
                            const Expectation e = source.nonzeros(run(expected, i), run(expected, j), loops);
                            (i == j ? diagonal : off_diagonal).add(static_cast<double>(nonzeros[usize(j)]), e);
                            if (i == j) continue;
                            needed.add(static_cast<double>(counts.nonzero_columns(i, j)),
                                       source.needed(expected, i, j, loops));
                        }
                    }
                }
                INFO(parts << " parts, spread " << spread << ", loops " << loops);
                for (const Deviations* d : {&off_diagonal, &diagonal, &needed}) {
                    INFO("largest " << d->largest() << ", rms " << d->rms() << ", mean " << d->mean());
                    CHECK(d->largest() < 5);
                    CHECK(d->rms() < 1.6);
                    CHECK(d->rms() > 0.2);
                }
            }
}

TEST_CASE("expected blocks under a double permutation are those of permuted graphs") {
    ModelSpec model;
    model.widths = {4, 4};
    const auto g = configuration(6000, 15, 1);
    const GraphView graph = view(g);
    const Adjacency a(graph, model);
    const std::int64_t n = a.vertices();
    const ExpectedGraph source(outline_of(g));
    Deviations separate, single;
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        for (const Permutation permutation : {Permutation::single, Permutation::separate}) {
            const EvenOrders real(IndexMap::one_part(n), permutation, seed),
                expected(sized_parts(n, 1), permutation, seed);
            const IndexMap rows = expected.rows(4), columns = expected.columns(3);
            const CountedBlocks counted(a, {real.rows(4)}, {real.columns(3)});
            for (Part i = 0; i < 4; ++i)
                for (Part j = 0; j < 3; ++j)
                    (permutation == Permutation::separate ? separate : single)
                        .add(static_cast<double>(counted.at(i, j)),
                             source.nonzeros(run(rows, i), run(columns, j), true));
        }
    INFO("separate: " << separate.largest() << ", " << separate.rms() << "; single: " << single.largest() << ", "
                      << single.rms());
    CHECK(separate.largest() < 5);
    CHECK(separate.rms() < 1.6);
    CHECK(separate.rms() > 0.4);
    // Runs that overlap in part have deviations that are too small, and exact means.
    CHECK(std::abs(single.mean()) < 0.5);
    CHECK(single.largest() < 15);
}

/// Each vertex of n / parts in a part has `degree` drawn edges: inside the part with probability `inside`, else to any
/// other part.
graphs::NamedGraph local(std::int64_t n, Part parts, std::int64_t degree, double inside) {
    std::vector<std::set<std::int32_t>> rows(usize(n));
    RandomStream draw(5, Draw::sample);
    const std::int64_t size = n / parts;
    for (std::int64_t v = 0; v < n; ++v)
        for (std::int64_t k = 0; k < degree; ++k) {
            const bool own = static_cast<double>(draw.below(1'000'000)) < 1e6 * inside;
            std::int64_t u = v;
            while (u == v || (u / size == v / size) != own)
                u = own ? v / size * size + static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(size)))
                        : static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(n)));
            rows[usize(v)].insert(static_cast<std::int32_t>(u));
            rows[usize(u)].insert(static_cast<std::int32_t>(v));
        }
    graphs::NamedGraph g;
    g.name = "local";
    g.symmetric = true;
    g.indptr.assign(1, 0);
    for (const auto& row : rows) {
        g.indices.insert(g.indices.end(), row.begin(), row.end());
        g.indptr.push_back(std::ssize(g.indices));
    }
    return g;
}

TEST_CASE("with a locality, expected blocks and halos are those of graphs with as many edges inside parts") {
    ModelSpec model;
    model.widths = {4, 4};
    const Part parts = 8;
    const auto g = local(8000, parts, 6, 0.9);
    const GraphView graph = view(g);
    const Adjacency a(graph, model);
    std::vector<std::int64_t> offsets;
    for (Part p = 0; p <= parts; ++p) offsets.push_back(p * 1000);
    const IndexMap real(offsets, true, {}), expected = sized_parts(8000, parts);
    std::int64_t inside = 0;
    for (std::int64_t v = 0; v < 8000; ++v)
        for (auto e = g.indptr[usize(v)]; e < g.indptr[usize(v) + 1]; ++e)
            inside += g.indices[usize(e)] / 1000 == v / 1000;
    GraphOutline outline = outline_of(g);
    outline.locality =
        Locality{.inside = static_cast<double>(inside) / static_cast<double>(std::ssize(g.indices)), .halo = {}};
    const ExpectedGraph source(outline);
    double found = 0, sum = 0;
    for (Part i = 0; i < parts; ++i) {
        const BlockCounts counts(a, real, i);
        std::vector<Part> all;
        for (Part p = 0; p < parts; ++p) all.push_back(p);
        const auto nonzeros = block_nonzeros(a, real, {i, 1}, all, Direction::forward);
        for (Part j = 0; j < parts; ++j) {
            CHECK(static_cast<double>(nonzeros[usize(j)]) ==
                  Approx(source.nonzeros(run(expected, i), run(expected, j), true).mean).epsilon(0.25));
            if (i == j) continue;
            found += static_cast<double>(counts.nonzero_columns(i, j));
            sum += source.needed(expected, i, j, true).mean;
        }
    }
    CHECK(found == Approx(sum).epsilon(0.02));
    // With the halo that was counted, the sum is that.
    outline.locality->halo = found / 8000;
    const ExpectedGraph told(outline);
    double again = 0;
    for (Part i = 0; i < parts; ++i)
        for (Part j = 0; j < parts; ++j)
            if (i != j) again += told.needed(expected, i, j, true).mean;
    CHECK(again == Approx(found).epsilon(1e-9));
}

TEST_CASE("expectations are rounded without a bias, the same every time") {
    double sum = 0;
    for (std::int64_t i = 0; i < 200; ++i)
        for (std::int64_t j = 0; j < 200; ++j) {
            const std::int64_t whole = ExpectedGraph::rounded(0.3, i, j);
            CHECK((whole == 0 || whole == 1));
            CHECK(whole == ExpectedGraph::rounded(0.3, j, i));
            sum += static_cast<double>(whole);
        }
    CHECK(sum / 40000 == Approx(0.3).epsilon(0.03));
    CHECK(ExpectedGraph::rounded(7, 3, 4) == 7);
}

struct Bytes {
    std::int64_t received = 0;
    std::string skipped, differs;
};

/// All ranks' stated payload; counted in one epoch, too, where the graph is expected.
Bytes bytes_of(const std::string& name, const std::map<std::string, std::string>& set, int ranks,
               const ExpectedDataset& dataset, const graphs::NamedGraph* there,
               const char* partitioner = "random") {
    Bytes out;
    ModelVariant v{.name = "gcn"};
    const StrategyVariant s = variants(name, set).front();
    OwnedDataset owned;
    std::optional<ExpectedWorkload> expected;
    if (there)
        owned = dress(*there, v);
    else
        expected.emplace(dataset);
    const DatasetView data = there ? owned.view() : expected->view();
    ModelSpec model = v.complete_model();
    model.widths.front() = data.feature_count;
    model.widths.back() = data.classes;
    const TrainSpec train = v.complete_train();
    const auto strategy = catalog().strategy(name);
    const Setting setting{ranks, model, train, s.params};
    out.skipped = strategy->why_unsupported(setting);
    const PartitionNeed need = strategy->partition_need(setting);
    if (need.vertex_cut) out.skipped = "an expected graph has no edges to deal to parts";
    if (!out.skipped.empty()) return out;
    const Part parts = need.parts;
    const std::int64_t n = data.graph.vertices();
    SharedSetup shared;
    Cell cell;
    cell.partitioner.name = partitioner;
    const auto graph = std::make_shared<const ExpectedGraph>(expected_under(dataset, cell, parts));
    const IndexMap index = there ? at_random(n, parts, 3) : expected_parts(*graph, parts);
    if (!there) {
        share_expected_graph(shared, graph);
        shared.of<TrainVertices>().count = std::make_shared<const std::int64_t>(expected->train_vertices());
    }
    const ExpectedCase c{.strategy = *strategy,
                         .problem = {.dataset = data,
                                     .index = index,
                                     .model = model,
                                     .train = train,
                                     .params = s.params,
                                     .ranks = ranks,
                                     .shared = &shared}};
    for (const std::int64_t received : received_bytes(c)) out.received += received;
    if (!there) out.differs = simulated_epoch(c).differs;
    return out;
}

struct Case {
    const char* name;
    std::map<std::string, std::string> set;
    int ranks;
};

std::vector<Case> full_batch() {
    return {{"serial", {}, 1},
            {"mg-gcn", {}, 8},
            {"cagnet-1d", {}, 6},
            {"cagnet-1d", {{"backward", "outer_product"}}, 6},
            {"cagnet-1.5d", {{"replication", "2"}}, 8},
            {"cagnet-2d", {}, 9},
            {"cagnet-2d", {{"travel", "true"}}, 4},
            {"cagnet-3d", {}, 8},
            {"cagnet-3d", {{"fibre", "all_reduce"}}, 8},
            {"cagnet-3d", {{"fibre", "released"}}, 8},
            {"sa-1d", {}, 8},
            {"sa-1d", {{"backward", "return"}}, 8},
            {"sa-1.5d", {{"replication", "2"}}, 8},
            {"demirci-p2p", {}, 8},
            {"bns-gcn", {}, 8},
            {"plexus-3d", {}, 8},
            {"plexus-3d", {{"blocks", "3"}}, 8},
            {"plexus-3d", {{"permutation", "single"}}, 8},
            {"plexus-3d", {{"permutation", "none"}}, 8}};
}

TEST_CASE("the volume that every full-batch strategy expects is that of graphs with the same degrees") {
    const auto g = configuration(5000, 10, 1);
    const GraphOutline outline = outline_of(g);
    const ModelVariant v{.name = "gcn"};
    const OwnedDataset dressed = dress(g, v);
    ExpectedDataset dataset;
    dataset.name = "as configuration";
    dataset.vertices = outline.vertices;
    dataset.entries = std::ssize(g.indices);
    dataset.features = dressed.feature_count;
    dataset.classes = dressed.classes;
    for (const auto& [degree, share] : outline.degrees) dataset.degrees.push_back({degree, share, 0});
    for (const Case& c : full_batch()) {
        INFO(c.name << (c.set.empty() ? "" : " " + c.set.begin()->first + "=" + c.set.begin()->second));
        const Bytes there = bytes_of(c.name, c.set, c.ranks, dataset, &g),
                    expected = bytes_of(c.name, c.set, c.ranks, dataset, nullptr);
        REQUIRE(there.skipped.empty());
        CHECK(expected.differs.empty());
        CHECK(static_cast<double>(expected.received) ==
              Approx(static_cast<double>(there.received)).epsilon(0.005));
    }
}

TEST_CASE("every full-batch strategy counts what it states on parts that differ") {
    nlohmann::json source = {{"expect", "arxiv"}, {"locality", 0.7}, {"halo", 1.2}, {"locality_parts", 8}};
    const ExpectedDataset even = expected_dataset(source);
    source.update({{"vertex_imbalance", 1.2}, {"nonzero_imbalance", 2.5}, {"halo_imbalance", 1.8}});
    const ExpectedDataset uneven = expected_dataset(source);
    for (const Case& c : full_batch()) {
        INFO(c.name << (c.set.empty() ? "" : " " + c.set.begin()->first + "=" + c.set.begin()->second));
        const Bytes alike = bytes_of(c.name, c.set, c.ranks, even, nullptr, "metis"),
                    differ = bytes_of(c.name, c.set, c.ranks, uneven, nullptr, "metis");
        REQUIRE(differ.skipped.empty());
        CHECK(differ.differs.empty());
        // Halos add up to the same, and so do broadcasts of all rows; only whole rows are rounded.
        CHECK(static_cast<double>(differ.received) == Approx(static_cast<double>(alike.received)).epsilon(0.001));
        CHECK(bytes_of(c.name, c.set, c.ranks, uneven, nullptr).received ==
              bytes_of(c.name, c.set, c.ranks, even, nullptr).received);
    }
}

TEST_CASE("a trial on 111 million expected vertices takes little memory") {
    const ExpectedDataset papers = expected_dataset({{"expect", "papers100m"}});
    CHECK(papers.vertices == 111059956);
    for (const Case& c : {Case{"mg-gcn", {}, 8}, Case{"sa-1d", {}, 64}, Case{"bns-gcn", {}, 64},
                          Case{"plexus-3d", {}, 256}, Case{"cagnet-2d", {}, 64}, Case{"cagnet-3d", {}, 64}}) {
        INFO(c.name);
        const Bytes out = bytes_of(c.name, c.set, c.ranks, papers, nullptr);
        CHECK(out.skipped.empty());
        CHECK(out.differs.empty());
        CHECK(out.received > 0);
    }
    if (std::string_view(GNNBENCH_SANITIZER) != "none") return;  // its memory would be counted, too
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    CHECK(use.ru_maxrss < 400 * 1024);  // KiB; one bit for each vertex and rank would be 14 MB a rank
}

TEST_CASE("what needs a graph's entries says so where it is only expected") {
    const ExpectedDataset dataset = expected_dataset({{"expect", "arxiv"}});
    CHECK_THROWS_WITH(bytes_of("plexus-3d", {{"sparse_all_reduce", "true"}}, 8, dataset, nullptr),
                      Catch::Contains("is only expected"));
    CHECK_THROWS_WITH(bytes_of("bns-gcn", {{"rate", "0.5"}}, 4, dataset, nullptr),
                      Catch::Contains("is only expected"));
}

}  // namespace
}  // namespace gnnbench::contract
