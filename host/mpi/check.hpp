#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>
// The deprecated C++ bindings do not compile cleanly and are not used.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// Throws CommunicationError naming `call` unless `code` is success.
inline void check_mpi(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw CommunicationError(fmt::format("{} failed: {}", call, std::string(text, usize(length))));
}

/// MPI counts are int: a count that does not fit is an error, never a wrap.
inline int mpi_count(std::int64_t n, const char* call) {
    if (n < 0 || n > std::numeric_limits<int>::max())
        throw CommunicationError(fmt::format("{}: {} elements in one call exceed MPI's limit of {}", call, n,
                                             std::numeric_limits<int>::max()));
    return static_cast<int>(n);
}

}  // namespace gnnbench
