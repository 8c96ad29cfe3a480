#include "worker/calibration.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "calibrate/measure.hpp"
#include "mpi/mpi.hpp"

namespace gnnbench {

int calibrate_ranks(const char* threads) {
    mpi_start();
    try {
        const ProcessGroup world = mpi_world();
        const MachineSamples samples = measure_machine(world, static_cast<int>(std::strtol(threads, nullptr, 10)));
        if (world.rank() == 0) std::printf("%s%s\n", samples_mark, to_json(samples).dump().c_str());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "gnnbench-worker: %s\n", e.what());
        mpi_abort(1);
    }
    mpi_finish();
    return 0;
}

}  // namespace gnnbench
