#pragma once
#include <memory>

#include <gnnbench/transport.hpp>

#include "mpi/check.hpp"

namespace gnnbench {

/// Moves host memory between the communicator's ranks. Collective.
std::unique_ptr<Transport> transport_among(MPI_Comm comm);

}  // namespace gnnbench
