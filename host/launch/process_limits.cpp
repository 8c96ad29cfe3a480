#include "launch/process_limits.hpp"

#include <algorithm>
#include <sys/resource.h>

#include <fmt/format.h>

#include "core/plural.hpp"

namespace gnnbench {

namespace {

/// OpenBLAS reserves its buffers as it is loaded, and tries again without end where it gets none: about 0.5 GiB with what
/// a rank maps besides.
constexpr std::int64_t least_address_space_bytes = std::int64_t{1} << 30;

/// Measured with Open MPI 4.1 and 4 ranks: with 1 MiB they hang as they start, with 4 its own segments do not fit.
constexpr std::int64_t least_file_bytes = std::int64_t{8} << 20;

std::int64_t limit_of(rlim_t limit) { return limit == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(limit); }

}  // namespace

/// Measured with Open MPI 4.1: 2 ranks start with 40 but not with 32, 8 ranks with 64 but not with 48.
std::int64_t open_files_for(int ranks) { return 32 + 5 * std::int64_t{ranks}; }

std::string why_too_low(int ranks, const ProcessLimits& limits) {
    if (limits.open_files >= 0 && limits.open_files < open_files_for(ranks))
        return fmt::format("the limit on open files is {}, and mpiexec needs {} for {}; raise it with ulimit -n",
                           limits.open_files, open_files_for(ranks), plural(ranks, "rank"));
    if (limits.address_space_bytes >= 0 && limits.address_space_bytes < least_address_space_bytes)
        return fmt::format(
            "the limit on address space is {} MiB, and a rank needs {}: OpenBLAS waits without end for what it "
            "does not get as it is loaded; raise it with ulimit -v",
            limits.address_space_bytes >> 20, least_address_space_bytes >> 20);
    if (limits.file_bytes >= 0 && limits.file_bytes < least_file_bytes)
        return fmt::format(
            "the limit on a file's size is {} MiB, and MPI's shared-memory files need {}; raise it with ulimit -f",
            limits.file_bytes >> 20, least_file_bytes >> 20);
    return {};
}

std::string why_limits_too_low(int ranks) {
    rlimit files{}, space{}, size{};
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_AS, &space);
    getrlimit(RLIMIT_FSIZE, &size);
    const auto needed = static_cast<rlim_t>(open_files_for(ranks));
    if (files.rlim_cur < needed && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = std::min(needed, files.rlim_max);
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return why_too_low(ranks, {.open_files = limit_of(files.rlim_cur),
                               .address_space_bytes = limit_of(space.rlim_cur),
                               .file_bytes = limit_of(size.rlim_cur)});
}

}  // namespace gnnbench
