#pragma once
#include <string>
#include <vector>

namespace gnnbench {

enum class MpiFlavour { open_mpi, mpich, unknown };
std::string to_text(MpiFlavour flavour);

/// The program that starts a trial's ranks.
struct Mpiexec {
    std::string path;
    MpiFlavour flavour = MpiFlavour::unknown;
    std::string version;  ///< "Open MPI 4.1.4"
};

/// The MPI that gnnbench was built with, as a version: "Open MPI 4.1.4". Another one's ranks have a worker of their own
/// (worker_program.hpp).
Mpiexec linked_mpi();

/// From the text that `mpiexec --version` prints.
MpiFlavour flavour_from(const std::string& version_text);
std::string version_from(const std::string& version_text);

/// Where mpiexec is: GNNBENCH_MPIEXEC if set, else the one found when gnnbench was built, else PATH's, else
/// the one beside this program.
/// Throws EnvironmentError if there is none, if it does not run, or if there is no worker for its MPI.
Mpiexec find_mpiexec();
/// Where another program starts ranks: the MPI that gnnbench was built with, unless the mpiexec that is found is another's.
Mpiexec mpi_at_hand();

/// `mpiexec -n ranks program argument…`
std::vector<std::string> mpiexec_command(const Mpiexec& mpiexec, int ranks, const std::string& program,
                                         const std::vector<std::string>& arguments);

}  // namespace gnnbench
