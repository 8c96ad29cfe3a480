// Catch's main under MPI: every rank runs the same tests in the same order; only rank 0 speaks, all fail together.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "core/mpi_check.hpp"

int main(int argc, char** argv) {
    Catch::Session session;
    if (const int bad = session.applyCommandLine(argc, argv); bad != 0) return bad;
    Catch::ConfigData& config = session.configData();
    if (config.listTests || config.listTestNamesOnly || config.listTags || config.listReporters)
        return session.run();
    int provided = 0, rank = 0, size = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) config.outputFilename = "/dev/null";
    int result = session.run();
    MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return result == 0 ? 0 : 1;
}
