#pragma once
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "launch/mpiexec.hpp"

namespace gnnbench {

/// The properties that make times comparable. Host names change with every container and kernels with every update, so
/// both are provenance, not part of it.
struct Machine {
    std::string cpu;              ///< model name
    int cores = 1;                ///< that this process may use
    std::int64_t memory_gib = 0;  ///< rounded
    std::string mpi;              ///< "Open MPI 4.1.4"
};
Machine this_machine(const Mpiexec& mpiexec);
nlohmann::json to_json(const Machine& machine);

/// Model name of the processor: "AMD EPYC 9654 96-Core Processor".
std::string cpu_model();

/// Memory that this process may use: the host's, or less if a cgroup limits it. 0: unknown.
std::int64_t host_memory_bytes();

/// Cores this process may use: its CPU affinity, less where a cgroup limits CPU time.
int usable_cores();

struct BuildInfo {
    std::string version, commit, compiler, build_type;  ///< commit is empty outside a git checkout
    std::string digest;  ///< of sources, compiler and build type, which identify a build
};
BuildInfo build_info();

/// Provenance at a trial's start: hostname, operating system, kernel, load average, build and compiler.
nlohmann::json provenance();

}  // namespace gnnbench
