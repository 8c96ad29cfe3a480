#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contract/simulated_case.hpp"

/// Trainings with real values on ranks that one process simulates.
namespace gnnbench::contract {

/// What replaces a rank's back end; the identity unless a test plants a mistake.
using Decorate = std::function<std::unique_ptr<Backend>(std::unique_ptr<Backend>, int rank)>;
inline std::unique_ptr<Backend> as_it_is(std::unique_ptr<Backend> backend, int) { return backend; }

struct InVirtualTime {
    DType dtype = DType::f64;
    std::function<simulation::Machine(int ranks)> machine = machine_of;
    simulation::NetworkModel network = simulation::NetworkModel::links;
    Decorate decorate = as_it_is;
    std::int64_t epochs = usual_epochs;
};

/// Calls `body` on each of so many simulated ranks, whose memory has contents.
inline void with_values(int ranks, const InVirtualTime& how,
                        const std::function<void(Backend& backend, const ProcessGroup& world)>& body) {
    const auto kernel = catalog().kernel("simulated");
    simulation::Simulation simulation(how.machine(ranks), how.network, ranks);
    simulation.run([&](const ProcessGroup& world) {
        const auto backend = how.decorate(kernel->create(simulated_setting(world, how.dtype, true)), world.rank());
        body(*backend, world);
    });
}

/// What each rank found; of a case that is skipped one outcome that says why.
inline std::vector<Outcome> train_in_virtual_time(const TrainingCase& c, const InVirtualTime& how = {}) {
    if (!c.skipped.empty()) {
        std::vector<Outcome> skipped(1);
        skipped.front().skipped = c.skipped;
        return skipped;
    }
    SharedSetup shared;
    const Problem problem = c.problem(&shared);
    std::vector<Outcome> of_rank(usize(c.ranks));
    with_values(c.ranks, how, [&](Backend& backend, const ProcessGroup& world) {
        of_rank[usize(world.rank())] = train_and_compare(c, problem, backend, world, false, how.epochs);
    });
    return of_rank;
}

}  // namespace gnnbench::contract
