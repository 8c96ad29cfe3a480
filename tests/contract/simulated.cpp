// Every strategy under simulation: what it counts is what it states, at rank counts that no test machine has, and the
// same trial twice gives the same times.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include <gnnbench/random.hpp>
#include <gnnbench/simulation/simulation.hpp>
#include <gnnbench/training/shards.hpp>
#include <gnnbench/training/sparse_blocks.hpp>

#include "contract/simulated_case.hpp"
#include "contract/strategy_models.hpp"
#include "contract/strategy_selection.hpp"

namespace gnnbench::contract {
namespace {

std::vector<std::string> names() { return catalog().names(PluginKind::strategy); }

void check(const StrategyVariant& s, const ModelVariant& v, const graphs::NamedGraph& g, int ranks,
           std::map<std::string, int>& ran) {
    INFO(s.name << " " << s.changed << " on " << ranks << " simulated ranks, " << g.name);
    const SimulatedOutcome out = simulate(s, v, g, ranks);
    if (!out.skipped.empty()) return;
    ++ran[s.name];
    CHECK(out.epochs_s.size() == 2 * static_cast<std::size_t>(ranks));
    CHECK(std::ranges::all_of(out.epochs_s, [](double t) { return t > 0; }));
    for (const std::string& d : out.differences) FAIL_CHECK(d);
}

TEST_CASE("under simulation every strategy counts what it states") {
    const ModelVariant v{.name = "gcn"};
    const auto directed = drawn(311, 6, false), symmetric = drawn(300, 5, true);
    std::map<std::string, int> ran;
    std::size_t place = 0;
    for (const std::string& name : names())
        for (const StrategyVariant& s : variants(name))
            for (const int ranks : {1, 3, 8, 16, 27}) {
                // Variants other than the defaults have one graph, at the next number of ranks the other.
                const bool both = s.changed.empty() || every_case(), first = place++ % 2 == 0;
                if (both || first) check(s, v, directed, ranks, ran);
                if (both || !first) check(s, v, symmetric, ranks, ran);
            }
    for (const std::string& name : names()) {
        INFO(name << " ran at no rank count");
        CHECK((ran[name] > 0 || name.starts_with("gossip")));
    }
}

TEST_CASE("under simulation strategies that attend count what they state") {
    const auto directed = drawn(311, 6, false);
    for (const LayerKind kind : {LayerKind::gat, LayerKind::gatv2}) {
        const ModelVariant v = attention({7, 6, 3}, {3, 2}, kind);
        std::map<std::string, int> ran;
        for (const std::string& name : names())
            for (const StrategyVariant& s : variants(name))
                for (const int ranks : {3, 8, 16}) check(s, v, directed, ranks, ran);
        for (const std::string& name : names()) {
            INFO(v.name << ": " << name << " ran at no rank count");
            const bool refuses = !refusal_at(name == "serial" ? 1 : 8, name, v).empty();
            const bool elsewhere =
                name == "serial" || name.starts_with("gossip");  // one rank; independent workers
            CHECK((ran[name] > 0) == !(refuses || elsewhere));
        }
    }
}

TEST_CASE("under simulation sparse features are prepared by their number of nonzeros, and volumes stay") {
    ModelVariant v{.name = "sparse features"};
    v.model.sparse_features = true;
    std::map<std::string, int> ran;
    for (const char* name : {"serial", "mg-gcn", "cagnet-1d", "cagnet-1.5d", "sa-1d", "demirci-p2p", "bns-gcn"})
        for (const int ranks : {1, 4}) check(variants(name).front(), v, drawn(311, 6, false), ranks, ran);
    CHECK(ran.size() == 7);
}

TEST_CASE("under simulation ranks that read each other's rows count what they state, and pack none") {
    const ModelVariant v{.name = "gcn"};
    for (const char* name : {"sa-1d", "sa-1.5d", "demirci-p2p", "bns-gcn", "mg-gcn", "plexus-3d"})
        for (const StrategyVariant& s : variants(name))
            for (const bool symmetric : {false, true}) {
                INFO(s.name << " " << s.changed);
                const SimulatedOutcome out =
                    simulate(s, v, drawn(311, 6, symmetric), 8, {.machine = processor_of});
                for (const std::string& d : out.differences) FAIL_CHECK(d);
                if (s.name == "sa-1d" || s.name == "demirci-p2p") CHECK(out.pack_s == 0);
            }
    CHECK(simulate(variants("sa-1d").front(), v, drawn(311, 6, true), 8).pack_s > 0);
}

TEST_CASE("under simulation strategies count what they state at 64 ranks") {
    const ModelVariant v{.name = "gcn"};
    std::map<std::string, int> ran;
    for (const std::string& name : names()) check(variants(name).front(), v, drawn(500, 5, true), 64, ran);
    CHECK(ran.size() >= 8);
}

TEST_CASE("under simulation some strategies count what they state at 256 ranks") {
    const ModelVariant v{.name = "gcn"};
    std::map<std::string, int> ran;
    for (const char* name : {"cagnet-1d", "cagnet-2d", "mg-gcn", "sa-1d", "bns-gcn", "plexus-3d"}) {
        const std::map<std::string, std::string> grid{{"grid", "given"}, {"x", "4"}, {"y", "8"}, {"z", "8"}};
        const auto set = std::string_view(name) == "plexus-3d" ? grid : std::map<std::string, std::string>();
        check(variants(name, set).front(), v, drawn(1100, 4, true), 256, ran);
    }
    CHECK(ran.size() == 6);
}

TEST_CASE("the same simulated training takes the same time to the bit") {
    const ModelVariant v{.name = "gcn"};
    const auto graph = drawn(400, 6, false);
    for (const char* name : {"mg-gcn", "sa-1d", "plexus-3d", "demirci-p2p", "bns-gcn"})
        for (const auto network : {simulation::NetworkModel::links, simulation::NetworkModel::ring}) {
            INFO(name);
            const StrategyVariant s = variants(name).front();
            const SimulatedOutcome first = simulate(s, v, graph, 12, {.network = network});
            REQUIRE(first.skipped.empty());
            CHECK(first.epochs_s == simulate(s, v, graph, 12, {.network = network}).epochs_s);
        }
}

/// The mean of all ranks' last epochs; small blocks, so that launches are what takes time unless they cost nothing.
double epoch_s(const std::string& name, const std::map<std::string, std::string>& set, int ranks,
               simulation::Machine (*machine)(int) = machine_of) {
    const SimulatedOutcome out = simulate(variants(name, set).front(), {.name = "gcn"}, drawn(400, 40, true),
                                          ranks, {.epochs = 1, .machine = machine});
    REQUIRE(out.skipped.empty());
    return std::accumulate(out.epochs_s.begin(), out.epochs_s.end(), 0.0) / ranks;
}

// A product by each peer's boundary was 0.86 of an epoch of 42 ms at 256 ranks.
TEST_CASE("bns-gcn multiplies by the boundaries of all peers at once, as sa-1d does") {
    const double bns_s = epoch_s("bns-gcn", {{"overlap", "true"}}, 32), sa_s = epoch_s("sa-1d", {}, 32);
    INFO(bns_s << " s, sa-1d " << sa_s << " s");
    CHECK(bns_s < 1.25 * sa_s);
}

/// Products and messages take time, launches none.
simulation::Machine slow_machine(int ranks) {
    simulation::Machine m = machine_of(ranks);
    m.device.launch_s = m.device.least_kernel_s = 1e-9;
    m.device.memory_bandwidth = m.device.cache_bandwidth = 1e8;
    m.links.link_bandwidth = 1e8;
    return m;
}

/// Messages take longer than products.
simulation::Machine slower_network(int ranks) {
    simulation::Machine m = slow_machine(ranks);
    m.links.link_bandwidth = 5e5;
    return m;
}

TEST_CASE("plexus-3d reduces a row block while it multiplies by the next one unless it is told not to") {
    const std::map<std::string, std::string> blocks{
        {"grid", "given"}, {"x", "2"}, {"y", "1"}, {"z", "2"}, {"blocks", "4"}};
    auto in_turn = blocks;
    in_turn["overlap_blocks"] = "false";
    CHECK(epoch_s("plexus-3d", blocks, 4, slow_machine) < epoch_s("plexus-3d", in_turn, 4, slow_machine));
}

TEST_CASE("bns-gcn multiplies by its own block while it exchanges only where it is told to") {
    for (const char* rate : {"1", "0.5"}) {
        const double hidden_s = epoch_s("bns-gcn", {{"rate", rate}, {"overlap", "true"}}, 4, slow_machine),
                     in_turn_s = epoch_s("bns-gcn", {{"rate", rate}}, 4, slow_machine);
        INFO("rate " << rate << ": " << hidden_s << " s, in turn " << in_turn_s << " s");
        CHECK(hidden_s < in_turn_s);
    }
}

TEST_CASE(
    "pipegcn and distgnn hide the end of an epoch's transfers behind the next epoch only where they run on") {
    const std::map<std::string, std::map<std::string, std::string>> late{
        {"pipegcn", {}}, {"distgnn", {{"algorithm", "cd-r"}, {"delay", "2"}}}};
    for (const auto& [name, set] : late) {
        auto runs_on = set;
        runs_on["transfers"] = "run_on";
        const std::int64_t epochs = 9;
        const auto trained = [&](const std::map<std::string, std::string>& params, bool without_pause) {
            const SimulatedOutcome out =
                simulate(variants(name, params).front(), {.name = "gcn"}, drawn(400, 40, true), 4,
                         {.epochs = epochs, .machine = slower_network, .without_pause = without_pause});
            REQUIRE(out.skipped.empty());
            return std::accumulate(out.epochs_s.begin(), out.epochs_s.end(), 0.0);
        };
        const double waits_s = trained(set, false), alone_s = trained(runs_on, false),
                     on_s = trained(runs_on, true);
        INFO(name << ": " << waits_s << " s, " << alone_s << " s with a pause after each epoch, " << on_s
                  << " s without");
        CHECK(on_s < 0.99 * alone_s);
        CHECK(on_s < 0.99 * waits_s);
    }
}

TEST_CASE("allreduce-gcn reduces the gradients of layers while it computes those below only where it is told to") {
    const double bucketed_s =
                     epoch_s("allreduce-gcn", {{"clusters", "8"}, {"bucket_mib", "0.000001"}}, 4, slow_machine),
                 once_s = epoch_s("allreduce-gcn", {{"clusters", "8"}}, 4, slow_machine);
    INFO("bucketed " << bucketed_s << " s, once " << once_s << " s");
    CHECK(bucketed_s < once_s);
}

TEST_CASE("what simulated ranks share is what each would make") {
    const ModelVariant v{.name = "gcn"};
    std::map<std::string, int> ran;
    for (const bool symmetric : {false, true}) {
        const auto graph = drawn(350, 6, symmetric);
        std::size_t place = symmetric ? 1 : 0;  // variants other than the defaults have one graph
        for (const std::string& name : names())
            for (const StrategyVariant& s : variants(name)) {
                const bool in_turn = place++ % 2 == 0;
                if (!in_turn && !s.changed.empty() && !every_case()) continue;
                INFO(s.name << " " << s.changed << ", " << graph.name);
                const SimulatedOutcome shared = simulate(s, v, graph, 8);
                if (!shared.skipped.empty()) continue;
                ++ran[name];
                CHECK(shared.epochs_s == simulate(s, v, graph, 8, {.in_common = InCommon::own}).epochs_s);
            }
    }
    CHECK(ran.size() >= 10);
}

using Sizes = std::vector<std::array<std::int64_t, 3>>;  ///< rows, columns, nonzeros

Sizes sizes_of(const std::vector<std::unique_ptr<PreparedMatrix>>& prepared) {
    Sizes sizes;
    for (const auto& m : prepared) sizes.push_back({m->rows, m->cols, m->nonzeros});
    return sizes;
}

/// Blocks and shards of a graph under two orders, prepared in all ways that strategies have.
std::vector<Sizes> prepared_sizes(const Adjacency& a, const std::array<IndexMap, 2>& orders, Backend& backend) {
    std::vector<Sizes> all;
    const std::vector<Part> panels{0, 2, 3};
    for (const Direction d : {Direction::forward, Direction::backward})
        for (const bool transpose : {false, true})
            for (const PartRange rows : {PartRange{1, 1}, PartRange{2, 2}})
                all.push_back(
                    sizes_of(prepare_blocks(a, orders[0], rows, panels, d, backend, {.transpose = transpose})));
    for (Part row = 0; row < orders[0].parts(); ++row)
        for (Part column = 0; column < orders[1].parts(); ++column)
            for (const int blocks : {1, 3}) {
                const PreparedShard shard =
                    prepare_shard(a, {orders[0], row, orders[1], column}, {.row_blocks = blocks}, backend);
                all.push_back(sizes_of(shard.forward));
                all.push_back(sizes_of(shard.transposed));
            }
    return all;
}

TEST_CASE("a back end without values is given the sizes of the blocks that others multiply") {
    const ModelVariant v{.name = "gcn"};
    const OwnedDataset owned = dress(drawn(97, 5, false), v);
    const ModelSpec model = v.complete_model();
    RandomStream draw(11, Draw::sample);
    const auto order = [&](Part parts) {
        Partition p{.parts = parts, .part_of = {}, .column_part_of = {}};
        for (std::int64_t vertex = 0; vertex < 97; ++vertex)
            p.part_of.push_back(static_cast<Part>(draw.below(static_cast<std::uint64_t>(parts))));
        return IndexMap(p);
    };
    const std::array orders{order(4), order(3)};
    const auto reference =
        catalog()
            .kernel("reference")
            ->create({.params = Params(catalog().find(PluginKind::kernel, "reference").params)});
    const Adjacency each(owned.view().graph, model);
    const std::vector<Sizes> expected = prepared_sizes(each, orders, *reference);
    const auto kernel = catalog().kernel("simulated");
    const Params params(catalog().find(PluginKind::kernel, "simulated").params);
    simulation::Simulation simulation(machine_of(1), simulation::NetworkModel::links, 1);
    simulation.run([&](const ProcessGroup& world) {
        const auto backend = kernel->create({.params = params, .ranks = &world});
        CHECK(prepared_sizes(each, orders, *backend) == expected);
        SharedSetup shared;
        const Adjacency common(owned.view().graph, model, 1, nullptr, &shared);
        CHECK(prepared_sizes(common, orders, *backend) == expected);
    });
}

/// Seconds that the host waits for one kernel, less its launch.
double seconds_of(const std::function<void(Backend&)>& kernel) {
    const auto plugin = catalog().kernel("simulated");
    const Params params(catalog().find(PluginKind::kernel, "simulated").params);
    double seconds = 0;
    simulation::Simulation simulation(machine_of(1), simulation::NetworkModel::links, 1);
    simulation.run([&](const ProcessGroup& world) {
        const auto backend = plugin->create({.params = params, .ranks = &world});
        const double before_s = simulation::rank_of(world).host_s();
        kernel(*backend);
        backend->synchronize(StreamRole::compute);
        seconds = simulation::rank_of(world).host_s() - before_s - machine_of(1).device.launch_s;
    });
    return seconds;
}

// By hand, from plugins/kernels/simulated/README.md, with a memory of 1e12 bytes/s, a cache of 1e6 bytes and 4e12
// bytes/s, 1e13 operations/s on 100 processors, and all efficiencies 1.
TEST_CASE("simulated kernels take as long as their equations say") {
    // z = 1e6, m = 1000, n = 1e5, f = 100: 1e5 rows of B are read once; of 9e5 more 1/40 come from the cache.
    // Memory: (1e5 + 0.975 * 9e5) * 400 + 8e6 + 4004 + 4e5 bytes; cache: 9e6 bytes.
    const double spmm_s = seconds_of([](Backend& b) {
        Csr a{.rows = 1000, .cols = 100000, .indptr = {0}, .indices = {}, .values = {}};
        for (std::int32_t r = 0; r < 1000; ++r) {
            for (std::int32_t k = 0; k < 1000; ++k) a.indices.push_back(k * 100);
            a.indptr.push_back(a.nonzeros());
        }
        a.values.resize(a.indices.size(), 1);
        const auto prepared = b.prepare(a);
        b.spmm(*prepared, b.matrix(100000, 100), b.matrix(1000, 100).view());
    });
    CHECK(spmm_s == Approx(399.404004e-6 + 2.25e-6).epsilon(1e-9));
    // 10 x 10 tiles are one wave: 2 * 1280 * 1280 * 1000 operations at the full rate.
    const double gemm_s = seconds_of([](Backend& b) {
        b.gemm(Transpose::no, b.matrix(1280, 1000), Transpose::no, b.matrix(1000, 1280),
               b.matrix(1280, 1280).view());
    });
    CHECK(gemm_s == Approx(327.68e-6).epsilon(1e-9));
    // One tile more than processors is a second wave.
    const double waves_s = seconds_of([](Backend& b) {
        b.gemm(Transpose::no, b.matrix(1280, 1000), Transpose::no, b.matrix(1000, 1408),
               b.matrix(1280, 1408).view());
    });
    CHECK(waves_s == Approx(2 * 327.68e-6).epsilon(1e-9));
    CHECK(seconds_of([](Backend& b) { b.fill(b.matrix(1000, 1000), 0); }) == Approx(4e-6).epsilon(1e-9));
    CHECK(seconds_of([](Backend& b) { b.fill(b.matrix(1, 1), 0); }) == Approx(2e-6).epsilon(1e-9));
}

// The same machine. z = 1e4 nonzeros, each in a row of its own among m = 2e5, and n = 2e5, f = 100: 4e6 bytes of B, 8e4 of
// entries, 4 for each row start and one more, 400 for each row of C that is written.
TEST_CASE("a simulated product that adds is charged the rows that its matrix uses") {
    constexpr std::int64_t n = 200000, nonzeros = 10000, rows_apart = n / nonzeros;
    const auto prepared_in = [](Backend& b, bool only_size) {
        if (only_size) return b.prepare(SparseSize{n, n, nonzeros});
        Csr a{.rows = n, .cols = n, .indptr = {0}, .indices = {}, .values = {}};
        for (std::int64_t r = 0; r < n; ++r) {
            if (r % rows_apart == 0) a.indices.push_back(static_cast<std::int32_t>(r));
            a.indptr.push_back(a.nonzeros());
        }
        a.values.resize(a.indices.size(), 1);
        return b.prepare(a);
    };
    const auto product_s = [&](bool only_size, double beta) {
        return seconds_of([&](Backend& b) {
            b.spmm(*prepared_in(b, only_size), b.matrix(n, 100), b.matrix(n, 100).view(), {.beta = beta});
        });
    };
    const auto attention_s = [&](Stage stage) {
        return seconds_of([&](Backend& b) {
            const Matrix z = b.matrix(n, 96), of_heads = b.matrix(n, 4), none = b.matrix(n, 0);
            b.attend(*prepared_in(b, false), {.heads = 4}, b.matrix(n, 100), of_heads,
                     {z, none, of_heads, of_heads, none}, stage);
        });
    };
    const double adding_s = (4e6 + 8e4 + 4 * 10001 + 2 * 400e4) * 1e-12;
    CHECK(product_s(false, 1) == Approx(adding_s).epsilon(1e-9));
    CHECK(product_s(true, 1) == Approx(adding_s).epsilon(1e-9));
    CHECK(attention_s({.first = false, .last = false}) == Approx(adding_s).epsilon(1e-9));
    // Where C is written anew, its other rows become 0; attention's first stage begins, its last one completes every row.
    const double anew_s = (4e6 + 8e4 + 4 * 200001 + 400 * 2e5) * 1e-12;
    CHECK(product_s(false, 0) == Approx(anew_s).epsilon(1e-9));
    CHECK(attention_s({.first = true, .last = false}) == Approx(anew_s).epsilon(1e-9));
    CHECK(attention_s({.first = false, .last = true}) == Approx(anew_s + 400 * 2e5 * 1e-12).epsilon(1e-9));
}

TEST_CASE("a simulated device without memory says so") {
    const auto kernel = catalog().kernel("simulated");
    const Params params(catalog().find(PluginKind::kernel, "simulated").params);
    simulation::Machine small = machine_of(1);
    small.device.memory_bytes = 1000;
    small.device.reserved_bytes = 100;
    simulation::Simulation simulation(small, simulation::NetworkModel::links, 1);
    simulation.run([&](const ProcessGroup& world) {
        const auto backend = kernel->create({.params = params, .ranks = &world});
        CHECK_FALSE(backend->holds_values());
        const Matrix most = backend->matrix(15, 15);  // 900 bytes
        CHECK_THROWS_AS(backend->allocate(4), OutOfMemory);
        CHECK(backend->memory().peak_bytes == 900);
    });
}

}  // namespace
}  // namespace gnnbench::contract
