#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/verdict.hpp"
#include "run/prepare.hpp"
#include "run/progress.hpp"

namespace gnnbench {

/// How a comparison of one cell with itself, or with itself slowed down by declaration, is measured.
struct VerdictSetting {
    double factor = 1;        ///< of side B's declared slowdown; 1: the sides are equal
    bool interleaved = true;  ///< else all of A's trials, then all of B's
    bool loaded = false;      ///< beside a load generator, which begins and pauses at random
};

/// What `compare` said in one setting.
struct VerdictTally {
    VerdictSetting setting;
    std::int64_t comparisons = 0, faster = 0, slower = 0, same = 0, unclear = 0;
    std::vector<double> ratios;  ///< B ÷ A
    /// Verdicts that are false: of equal sides any difference, of a slowed side FASTER.
    std::int64_t wrong() const { return setting.factor > 1 ? faster : faster + slower; }
    void count(const Comparison& verdict);
};

struct VerdictCheckRequest {
    std::int64_t equal = 100;       ///< comparisons of equal sides: a quarter in each of four settings
    std::int64_t slowed = 40;       ///< a quarter each: slowed by 1.1 and 1.3, without and with load; interleaved
    std::int64_t trials = 7;        ///< a side
    std::filesystem::path scratch;  ///< folder for databases and the dataset
    std::uint64_t seed = 0;
};

/// Measures on this machine what verdicts are worth: every comparison runs its own trials, of a few tenths of a second,
/// and asks compare_sides(). Ends early at an interrupt.
std::vector<VerdictTally> check_verdicts(const VerdictCheckRequest& request, const PluginSource& plugins,
                                         Progress& progress);

/// The most wrong verdicts among so many comparisons of equal sides that a chance of 5% explains: its mean and two
/// standard deviations. 9 of 100.
std::int64_t most_wrong(std::int64_t comparisons);

}  // namespace gnnbench
