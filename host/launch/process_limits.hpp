#pragma once
#include <cstdint>
#include <string>

namespace gnnbench {

/// Descriptors that mpiexec holds for so many ranks on this host.
std::int64_t open_files_for(int ranks);

/// Why this process's limits (see setrlimit) keep so many ranks from starting, with what to do; empty if they do not.
/// Raises the soft limit of open files as far as the hard one allows.
std::string why_limits_too_low(int ranks);

/// The same for given limits, in descriptors and bytes; −1: none.
std::string why_too_low(int ranks, std::int64_t open_files, std::int64_t address_space_bytes);

}  // namespace gnnbench
