#pragma once
#include <cstdint>
#include <string>

namespace gnnbench {

/// Descriptors that mpiexec holds for so many ranks on this host.
std::int64_t open_files_for(int ranks);

/// Why this process's limits (see setrlimit) keep so many ranks from starting, with what to do; empty if they do not.
/// Raises the soft limit of open files as far as the hard one allows.
std::string why_limits_too_low(int ranks);

/// Limits of a process; −1: none.
struct ProcessLimits {
    std::int64_t open_files = -1, address_space_bytes = -1, file_bytes = -1;
};
std::string why_too_low(int ranks, const ProcessLimits& limits);

}  // namespace gnnbench
