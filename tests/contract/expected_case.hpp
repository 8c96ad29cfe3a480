#pragma once
#include <map>
#include <string>
#include <vector>

#include <gnnbench/simulation/expected_graph.hpp>
#include <gnnbench/usize.hpp>

#include "contract/simulated_case.hpp"

/// Trainings on a graph that is there and on one that is only expected, side by side.
namespace gnnbench::contract {

inline GraphView view(const graphs::NamedGraph& g) {
    return {.indptr = g.indptr, .indices = g.indices, .weights = {}, .symmetric = true, .self_loops = 0};
}

inline GraphOutline outline_of(const graphs::NamedGraph& g) {
    std::map<std::int64_t, std::int64_t> of_degree;
    for (std::size_t v = 0; v + 1 < g.indptr.size(); ++v) ++of_degree[g.indptr[v + 1] - g.indptr[v]];
    GraphOutline outline{.vertices = std::ssize(g.indptr) - 1, .degrees = {}};
    for (const auto& [degree, vertices] : of_degree)
        outline.degrees.push_back({degree, static_cast<double>(vertices) / static_cast<double>(outline.vertices)});
    return outline;
}

struct ExpectedCase {
    const Strategy& strategy;
    Problem problem;
};

/// [ranks] the stated payload of an epoch.
inline std::vector<std::int64_t> received_bytes(const ExpectedCase& c) {
    std::vector<std::int64_t> bytes;
    for (int r = 0; r < c.problem.ranks; ++r)
        bytes.push_back(payload_total(c.strategy.stated_volume(c.problem, r, 4, 0).volume).received_bytes);
    return bytes;
}

struct ExpectedEpoch {
    double wall_s = 0;    ///< of the slowest rank
    std::string differs;  ///< counted from stated volume; empty: nothing
};

inline ExpectedEpoch simulated_epoch(const ExpectedCase& c) {
    ExpectedEpoch out;
    const int ranks = c.problem.ranks;
    const auto kernel = catalog().kernel("simulated");
    const Params kernel_params(catalog().find(PluginKind::kernel, "simulated").params);
    simulation::Machine machine = machine_of(ranks);
    machine.device.memory_bytes = 1e13;
    simulation::Simulation simulation(machine, simulation::NetworkModel::links, ranks);
    simulation.run([&](const ProcessGroup& world) {
        const auto backend = kernel->create({.params = kernel_params, .ranks = &world});
        VolumeCounter counter;
        Communicator communicator(backend->connect(world), *backend, counter);
        const auto made = c.strategy.make_trainer(c.problem, {*backend, communicator, world});
        const std::int64_t held = backend->memory().current_bytes;
        CHECK(held >=
              c.strategy.stated_memory(c.problem, world.rank(), 4));  // besides there are prepared matrices
        counter.take();
        timed_epoch(world, *backend, *std::get<std::unique_ptr<CollectiveTrainer>>(made), 0);
        out.wall_s = std::max(out.wall_s, backend->trace().times().wall_s);
        const std::string differs =
            difference(c.strategy.stated_volume(c.problem, world.rank(), 4, 0), counter.take());
        if (!differs.empty()) out.differs = differs;
    });
    return out;
}

}  // namespace gnnbench::contract
