#pragma once
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gnnbench/random.hpp>
#include <gnnbench/simulation/simulation.hpp>

#include "contract/strategy_case.hpp"
#include "plugin/arithmetic.hpp"
#include "worker/measurement.hpp"

/// One small training of one strategy on simulated ranks.
namespace gnnbench::contract {

/// As many nodes of four devices as needed. The numbers are round, and of no machine.
inline simulation::Machine machine_of(int ranks) {
    simulation::Machine m;
    m.name = "of the contract";
    m.devices_per_node = 4;
    m.nodes = (ranks + 3) / 4;
    m.device = {.name = "device",
                .memory_bytes = 1e9,
                .reserved_bytes = 0,
                .memory_bandwidth = 1e12,
                .cache_bytes = 1e6,
                .cache_bandwidth = 4e12,
                .float32_rate = 1e13,
                .float64_rate = 5e12,
                .processors = 100,
                .host_link_bandwidth = 1e10,
                .launch_s = 5e-6,
                .least_kernel_s = 2e-6};
    m.links = {.link_bandwidth = 2e10,
               .among = {{2, 4}},
               .most_bandwidth = 0,
               .nics = 4,
               .nic_bandwidth = 2.5e10,
               .base_s = 5e-6,
               .hop_s = 1e-6,
               .network_hop_s = 4e-6,
               .message_s = 1e-6};
    return m;
}

/// One node, whose devices have rates by size and read each other's memory in place.
inline simulation::Machine processor_of(int ranks) {
    simulation::Machine m = machine_of(ranks);
    m.nodes = 1;
    m.devices_per_node = ranks;
    m.device.stream = {{{1e4, 1e11}, {1e6, 1e10}}};
    m.device.gather = {{{1e4, 5e10}, {1e6, 1e10}}};
    m.device.wide_gather = {{{1e4, 8e10}, {1e6, 2e10}}};
    m.device.loss = m.device.sharded_loss = {{{16, 2e-8}}};
    m.device.streams = 1;
    for (const char* rows : {"read_rows", "add_rows"}) m.links.measured[rows] = {{{64, 1e-6}, {1e6, 1e-4}}};
    return m;
}

/// A directed or symmetric graph of so many vertices, each with about `degree` drawn neighbours.
inline graphs::NamedGraph drawn(std::int64_t vertices, std::int64_t degree, bool symmetric) {
    std::vector<std::set<std::int32_t>> rows(static_cast<std::size_t>(vertices));
    RandomStream draw(7, Draw::sample);
    for (std::int64_t v = 0; v < vertices; ++v)
        for (std::int64_t k = 0; k < degree; ++k) {
            const auto u = static_cast<std::int32_t>(draw.below(static_cast<std::uint64_t>(vertices)));
            rows[static_cast<std::size_t>(v)].insert(u);
            if (symmetric) rows[static_cast<std::size_t>(u)].insert(static_cast<std::int32_t>(v));
        }
    graphs::NamedGraph g;
    g.name = symmetric ? "symmetric" : "directed";
    g.symmetric = symmetric;
    g.indptr.assign(1, 0);
    for (const auto& row : rows) {
        g.indices.insert(g.indices.end(), row.begin(), row.end());
        g.indptr.push_back(std::ssize(g.indices));
    }
    return g;
}

/// What one rank did in one epoch.
struct EpochSeen {
    double wall_s = 0;
    std::vector<std::string> operations;  ///< in the order in which they were given, with their bytes
    Volume volume;
    std::int64_t allocations = 0;
};

struct SimulatedOutcome {
    std::string skipped;
    std::vector<std::string> differences;         ///< of counted and stated volumes
    std::vector<double> epochs_s;                 ///< by rank and epoch
    double pack_s = 0;                            ///< of all of them
    std::vector<std::vector<EpochSeen>> of_rank;  ///< [ranks][epochs]
    std::vector<std::vector<double>> losses;      ///< of independent workers, by rank and step
};

/// Whether ranks of the simulation share what they have in common, or each makes its own, as processes do.
enum class InCommon : std::uint8_t { shared, own };

struct Simulated {
    simulation::NetworkModel network = simulation::NetworkModel::links;
    InCommon in_common = InCommon::shared;
    std::int64_t epochs = 2;
    std::function<simulation::Machine(int ranks)> machine = machine_of;
    bool always_epoch_0 = false;     ///< the same samples and masks every time
    bool evaluates_between = false;  ///< after each epoch
    bool without_pause = false;      ///< epochs follow one another, and only their times are seen
    bool workers = false;            ///< independent ones train: only their time and their steps' losses are seen
    Slowdown slowdown = {};
    bool values = false;     ///< memory has contents
    bool one_label = false;  ///< of every vertex, which any model learns soon
};

struct SeenSteps final : StepObserver {
    std::vector<double> losses;
    void begins(std::int64_t) override {}
    void stepped(const Step& step) override { losses.push_back(step.loss); }
    void averaged(const Averaging&) override {}
};

/// A simulated rank's back end.
inline KernelSetting simulated_setting(const ProcessGroup& world, DType dtype, bool values) {
    const auto declared = catalog().find(PluginKind::kernel, "simulated").params;
    KernelSetting setting{.dtype = dtype, .params = Params(declared), .ranks = &world};
    if (!values) return setting;
    for (const ParamDecl& p : declared)
        if (p.name == std::string("values")) setting.params.set(p, "true");
    setting.arithmetic = arithmetic_of_this_machine(catalog(), dtype);
    return setting;
}

inline SimulatedOutcome simulate(const StrategyVariant& s, const ModelVariant& v, const graphs::NamedGraph& graph,
                                 int ranks, const Simulated& how = {}) {
    SimulatedOutcome out;
    OwnedDataset owned = dress(graph, v);
    if (how.one_label) std::ranges::fill(owned.labels, 0);
    const DatasetView data = owned.view();
    const ModelSpec model = v.complete_model();
    const TrainSpec train = v.complete_train();
    const auto strategy = catalog().strategy(s.name);
    const Setting setting{ranks, model, train, s.params};
    const PartitionNeed need = strategy->partition_need(setting);
    const char* const divides = need.vertex_cut ? "libra" : "random";
    const auto partitioner = catalog().partitioner(divides);
    const Params partitioner_params(catalog().find(PluginKind::partitioner, divides).params);
    out.skipped = strategy->why_unsupported(setting);
    if (out.skipped.empty())
        out.skipped = why_not_served(*partitioner, {data.graph.vertices(), data.graph.edges(), false}, need,
                                     partitioner_params);
    if (!out.skipped.empty()) return out;
    const Partition partition = partition_in_order(
        *partitioner, {.dataset = data, .model = model, .need = need, .params = partitioner_params, .seed = 3});
    const IndexMap index(partition);
    SharedSetup shared;
    const Problem problem{.dataset = data,
                          .index = index,
                          .model = model,
                          .train = train,
                          .params = s.params,
                          .ranks = ranks,
                          .slowdown = how.slowdown,
                          .shared = how.in_common == InCommon::shared ? &shared : nullptr};
    const auto kernel = catalog().kernel("simulated");
    simulation::Simulation simulation(how.machine(ranks), how.network, ranks);
    out.of_rank.resize(static_cast<std::size_t>(ranks));
    try {
        simulation.run([&](const ProcessGroup& world) {
            const auto backend = kernel->create(simulated_setting(world, DType::f32, how.values));
            VolumeCounter counter;
            Communicator communicator(backend->connect(world), *backend, counter);
            const auto made = strategy->make_trainer(problem, {*backend, communicator, world});
            const auto* trainer = std::get_if<std::unique_ptr<CollectiveTrainer>>(&made);
            if (!trainer && !how.workers) throw Unsupported("independent workers");
            counter.take();
            if (!trainer) {
                finish_given_work(world, *backend);
                const double begin_s = world.turns()->now_s();
                SeenSteps observer;
                std::get<std::unique_ptr<IndependentTrainer>>(made)->train(how.epochs, observer);
                backend->synchronize(StreamRole::compute);
                out.epochs_s.push_back(world.turns()->now_s() - begin_s);
                out.losses.resize(static_cast<std::size_t>(ranks));
                out.losses[static_cast<std::size_t>(world.rank())] = std::move(observer.losses);
                return;
            }
            if (how.without_pause) {
                timed_epochs(world, *backend, **trainer, 0, how.epochs, [](std::int64_t, const Step&) {});
                for (std::int64_t e = 0; e < how.epochs; ++e)
                    out.epochs_s.push_back(backend->trace().times(static_cast<std::size_t>(e)).wall_s);
                return;
            }
            for (std::int64_t e = 0; e < how.epochs; ++e) {
                const std::int64_t epoch = how.always_epoch_0 ? 0 : e;
                const std::int64_t allocations = backend->memory().allocations;
                timed_epoch(world, *backend, **trainer, epoch);
                CHECK(backend->memory().allocations == allocations);
                EpochSeen seen{.operations = {},
                               .volume = counter.take(),
                               .allocations = backend->memory().allocations - allocations};
                const std::string differs =
                    difference(strategy->stated_volume(problem, world.rank(), 4, epoch), seen.volume);
                if (!differs.empty())
                    out.differences.push_back("rank " + std::to_string(world.rank()) + ": " + differs);
                const EpochTimes t = backend->trace().times();
                out.epochs_s.push_back(t.wall_s);
                out.pack_s += t.phase_s[static_cast<std::size_t>(Phase::pack)];
                double phases_s = 0;
                for (const double p : t.phase_s) phases_s += p;
                CHECK(phases_s == Approx(t.wall_s).margin(1e-9));
                seen.wall_s = t.wall_s;
                for (const Span& span : backend->trace().spans())
                    seen.operations.push_back(std::string(span.operation) + " " + std::to_string(span.bytes));
                out.of_rank[static_cast<std::size_t>(world.rank())].push_back(std::move(seen));
                if (!how.evaluates_between) continue;
                (*trainer)->evaluate();
                counter.take();
            }
        });
    } catch (const Unsupported& e) {
        out.skipped = e.what();
    }
    return out;
}

}  // namespace gnnbench::contract
