#include "launch/worker_program.hpp"

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

/// One worker has no suffix, since every build has it.
std::string name_of(MpiFlavour flavour) {
    if (flavour == MpiFlavour::unknown || flavour == linked_mpi().flavour) return "gnnbench-worker";
    return flavour == MpiFlavour::mpich ? "gnnbench-worker-mpich" : "gnnbench-worker-openmpi";
}

std::string path_of(MpiFlavour flavour) {
    if (const char* wanted = std::getenv("GNNBENCH_WORKER"); wanted && *wanted) return wanted;
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name_of(flavour);
}

}  // namespace

bool has_worker(MpiFlavour flavour) { return access(path_of(flavour).c_str(), X_OK) == 0; }

std::string find_worker(MpiFlavour flavour) {
    if (!has_worker(flavour))
        throw EnvironmentError("the worker program '" + path_of(flavour) +
                               "' is missing; build or install all of gnnbench");
    return path_of(flavour);
}

}  // namespace gnnbench
