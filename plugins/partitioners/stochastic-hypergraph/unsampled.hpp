#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>

#include "hypergraph.hpp"

namespace gnnbench::stochastic {

/// Where vertices go that no net has, on which Algorithm 3 is silent: wherever the partitioner's balance took them; to
/// parts at random; or to the part that has most of a row's columns.
enum class Unsampled : std::uint8_t { balance, random, neighbours };
Unsampled unsampled_of(std::string_view word);

/// The vertices of a hypergraph that no net has, with all vertices' weights.
struct WithoutNet {
    std::vector<std::int64_t> vertices;  ///< ascending
    std::vector<hypergraph::Weight> weight;
};
WithoutNet without_net(const hypergraph::Hypergraph& nets);

/// Places them anew, heaviest first, in parts that stay within `limit` or, where none has room, in the lightest. Other
/// vertices stay.
void place(const GraphView& graph, const WithoutNet& unsampled, Unsampled how, hypergraph::Weight limit,
           std::uint64_t seed, Partition& partition);

}  // namespace gnnbench::stochastic
