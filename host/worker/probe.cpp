#include "worker/probe.hpp"

#include <cstdio>
#include <exception>

#include "core/mpi_check.hpp"

namespace gnnbench {

namespace {

/// Each rank sends its number to the next one. Returns whether all got the right one; rank 0 prints what it used.
bool exchange() {
    int rank = 0, ranks = 0, from = -1, all_right = 0, length = 0;
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    const int before = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
    check_mpi(
        MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &from, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
    const int right = from == before ? 1 : 0;
    check_mpi(MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    check_mpi(MPI_Get_library_version(library, &length), "MPI_Get_library_version");
    for (char& c : library)
        if (c == ',' || c == '\n') c = '\0';  // what follows says who packaged it, and when
    if (rank == 0 && all_right == 1) std::printf("%d ranks exchanged messages (%s)\n", ranks, library);
    return all_right == 1;
}

}  // namespace

int probe_ranks() {
    int provided = 0;
    bool right = false;
    try {
        check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
        right = exchange();
        check_mpi(MPI_Finalize(), "MPI_Finalize");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "gnnbench-worker: %s\n", e.what());
    }
    return right ? 0 : 1;
}

}  // namespace gnnbench
