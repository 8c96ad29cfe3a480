#pragma once
#include <algorithm>
#include <cstdint>

/// When random rows of a matrix larger than the caches are asked for, before they are read.
namespace gnnbench::cpu {

/// In rows. A line is first asked for into the second-level cache: rows of four lines then arrive at 24 to 28 GB/s where
/// prefetches into the first level alone reach 16 (results/cpu-kernels.md), presumably since the second level waits for
/// more lines at once.
struct Ahead {
    std::int64_t second = 0;  ///< into the second-level cache; 0: nothing is prefetched
    std::int64_t first = 0;   ///< into the first-level cache, from the second
};

/// For rows of so many bytes: about 256 lines on their way into the second cache, 32 into the first.
inline Ahead ahead_of_random_rows(std::int64_t row_bytes) {
    const std::int64_t lines = std::max<std::int64_t>(1, (row_bytes + 63) / 64);
    return {std::clamp<std::int64_t>(256 / lines, 16, 128), std::clamp<std::int64_t>(32 / lines, 4, 16)};
}

}  // namespace gnnbench::cpu
