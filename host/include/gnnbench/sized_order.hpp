#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <gnnbench/partition.hpp>

/// Orders of vertices of which nothing but the parts' sizes is known.

namespace gnnbench {

/// What the index maps of one such order have in common. Two maps are of one order if each is a copy of the other or made
/// from the same `order`.
struct SizedOrder {
    /// Offsets of the parts that a partitioner made; empty: a permutation at random.
    std::vector<std::int64_t> parts;
};

/// A map that says how many vertices a part has, not which.
IndexMap sized_map(std::vector<std::int64_t> offsets, std::shared_ptr<const SizedOrder> order);
/// nullptr: the map is of vertices that are there.
std::shared_ptr<const SizedOrder> sized_order(const IndexMap& index);
/// n vertices in parts as equal as possible, as a partitioner makes them.
IndexMap sized_parts(std::int64_t vertices, Part parts);

}  // namespace gnnbench
