#include "worker/probe.hpp"

#include <cstdio>
#include <exception>

#include <gnnbench/usize.hpp>

#include "mpi/mpi.hpp"

namespace gnnbench {

namespace {

/// Each rank sends its number to all others. Returns whether all got the right ones; rank 0 prints what it used.
bool exchange() {
    const ProcessGroup world = mpi_world();
    const std::vector<std::string> numbers = world.all_gather(std::to_string(world.rank()));
    double wrong = 0;
    for (int rank = 0; rank < world.size(); ++rank) wrong += numbers[usize(rank)] != std::to_string(rank);
    const bool all_right = world.sum({wrong}).front() == 0;
    if (world.rank() == 0 && all_right)
        std::printf("%d ranks exchanged messages (%s)\n", world.size(), world.library().c_str());
    return all_right;
}

}  // namespace

int probe_ranks() {
    bool right = false;
    try {
        mpi_start();
        right = exchange();
        mpi_finish();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "gnnbench-worker: %s\n", e.what());
    }
    return right ? 0 : 1;
}

}  // namespace gnnbench
