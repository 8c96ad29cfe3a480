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

std::int64_t limit_of(rlim_t limit) { return limit == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(limit); }

}  // namespace

/// Measured with Open MPI 4.1: 2 ranks start with 40 but not with 32, 8 ranks with 64 but not with 48.
std::int64_t open_files_for(int ranks) { return 32 + 5 * std::int64_t{ranks}; }

std::string why_too_low(int ranks, std::int64_t open_files, std::int64_t address_space_bytes) {
    if (open_files >= 0 && open_files < open_files_for(ranks))
        return fmt::format("the limit on open files is {}, and mpiexec needs {} for {}; raise it with ulimit -n",
                           open_files, open_files_for(ranks), plural(ranks, "rank"));
    if (address_space_bytes >= 0 && address_space_bytes < least_address_space_bytes)
        return fmt::format(
            "the limit on address space is {} MiB, and a rank needs {}: OpenBLAS waits without end for what it "
            "does not get as it is loaded; raise it with ulimit -v",
            address_space_bytes >> 20, least_address_space_bytes >> 20);
    return {};
}

std::string why_limits_too_low(int ranks) {
    rlimit files{}, space{};
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_AS, &space);
    const auto needed = static_cast<rlim_t>(open_files_for(ranks));
    if (files.rlim_cur < needed && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = std::min(needed, files.rlim_max);
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return why_too_low(ranks, limit_of(files.rlim_cur), limit_of(space.rlim_cur));
}

}  // namespace gnnbench
