#include "worker/calibration.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "calibrate/measure.hpp"
#include "core/mpi_check.hpp"

namespace gnnbench {

int calibrate_ranks(const char* threads) {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    try {
        const ProcessGroup world = ProcessGroup::world();
        const MachineSamples samples = measure_machine(world, static_cast<int>(std::strtol(threads, nullptr, 10)));
        if (world.rank() == 0) std::printf("%s%s\n", samples_mark, to_json(samples).dump().c_str());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "gnnbench-worker: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    check_mpi(MPI_Finalize(), "MPI_Finalize");
    return 0;
}

}  // namespace gnnbench
