#include <cstdlib>

#include "mpi/check.hpp"
#include "mpi/mpi.hpp"

namespace gnnbench {

void mpi_start() {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
}

void mpi_finish() { check_mpi(MPI_Finalize(), "MPI_Finalize"); }

void mpi_abort(int exit_code) {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
}

std::string mpi_library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    check_mpi(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
    const std::string whole(text, usize(length));
    return whole.substr(0, whole.find_first_of(",\n"));  // what follows says who packaged it, and when
}

}  // namespace gnnbench
