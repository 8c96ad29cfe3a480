#pragma once
#include <cstdint>
#include <span>

#include "record/verdict.hpp"

namespace gnnbench {

/// How reliable the verdicts of `compare` are on one machine: one cell compared with itself.
struct AaResult {
    double spread = 0;        ///< of the log ratio of a pair of trials
    std::int64_t trials = 0;  ///< of each side, as many as compare asks for to find the slowdown
    std::int64_t draws = 0;
    double false_rate = 0;  ///< identical sides called FASTER or SLOWER
    double found_rate = 0;  ///< sides of which one is slowed down called SLOWER
};

/// `epoch_s`: one pool of trials in the order in which they ran; neighbours (0 and 1, 2 and 3, …) are a block. Each
/// draw takes `trials` blocks at random and gives of each one trial to A and the other to B. Throws SpecError where
/// the pool has too few.
AaResult against_itself(std::span<const double> epoch_s, double slowdown, std::int64_t draws,
                        const CompareRules& rules);
/// The number of trials that the pool needs for that, estimated from those it has.
std::int64_t pool_for(std::span<const double> epoch_s, double slowdown, const CompareRules& rules);

}  // namespace gnnbench
