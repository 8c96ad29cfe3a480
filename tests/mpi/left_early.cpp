// A rank that throws while the others wait for it: catch/mpi_main.cpp must end them all, with its message.
#include <stdexcept>

#include <catch2/catch.hpp>

#include "mpi/check.hpp"

TEST_CASE("rank 1 throws, and the others wait for it") {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    INFO("on rank " << rank);
    if (rank == 1) throw std::runtime_error("the reason of rank 1");
    MPI_Barrier(MPI_COMM_WORLD);
}
