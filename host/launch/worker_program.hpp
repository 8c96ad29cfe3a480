#pragma once
#include <string>

#include "launch/mpiexec.hpp"

namespace gnnbench {

/// The program that ranks run: beside this one, built for that MPI, or from GNNBENCH_WORKER. `unknown`: for the MPI that
/// gnnbench was built with. Throws EnvironmentError.
std::string find_worker(MpiFlavour flavour = MpiFlavour::unknown);
/// Whether it is there.
bool has_worker(MpiFlavour flavour);

}  // namespace gnnbench
