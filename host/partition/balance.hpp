#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench {

/// What the heaviest part weighs at least, whatever the partition, because whole rows are dealt out: these rows are in one
/// part, or heavier ones in their place.
struct LeastHeaviest {
    std::int64_t weight = 0;
    std::vector<std::int64_t> rows;  ///< heaviest first; empty: the mean, which no row forces
};

/// Some part holds k + 1 of the k·parts + 1 heaviest rows, which weigh no less than the k + 1 lightest of them; for
/// k = 0 this is the heaviest row. Returns the largest of these bounds and of the mean, rounded up.
LeastHeaviest least_heaviest_part(std::span<const std::int64_t> weight, Part parts);

/// Where a part is heavier than the parameter `imbalance` of its partitioner allows, the reason: the rows that force it, or
/// that the partitioner did not reach it. Empty where the balance is kept, and for partitioners without the parameters
/// `imbalance` and `weights`.
std::string why_not_balanced(const GraphView& graph, std::span<const Part> part_of, Part parts,
                             const Params& params);

}  // namespace gnnbench
