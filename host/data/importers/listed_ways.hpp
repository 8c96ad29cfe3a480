#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnnbench {

/// In which directions a list has its edges. A self-loop tells nothing.
enum class Ways {
    none,   ///< no edge but self-loops
    once,   ///< each pair of vertices in one direction: a directed graph, or an undirected one listed once
    both,   ///< each pair in both directions: an undirected graph
    mixed,  ///< some pairs in one direction, some in both: a directed graph
};

/// Finds the ways of a list, whose edges may repeat and come in any order. Of more pairs than it may hold it keeps those
/// with the smallest hashes, a sample that does not depend on the order.
class ListedWays {
public:
    explicit ListedWays(std::size_t most_pairs = std::size_t{1} << 20) : most_pairs_(most_pairs) {}
    void add(std::int32_t u, std::int32_t v);
    Ways ways();

private:
    void compact();

    std::size_t most_pairs_;
    std::uint64_t largest_hash_ = UINT64_MAX;  ///< pairs beyond it are not kept
    std::vector<std::uint64_t>
        listed_;  ///< smaller vertex · 2³² + larger · 2 + (1: from the larger to the smaller)
};

}  // namespace gnnbench
