#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <gnnbench/partition.hpp>

/// Vertex orders of which only the sizes of parts are known.

namespace gnnbench {

/// Shared by all index maps of one such order: maps with the same SizedOrder describe the same unknown order.
struct SizedOrder {
    /// Offsets of a partitioner's parts; empty for a random permutation.
    std::vector<std::int64_t> parts;
};

/// A map that knows how many vertices each part has, not which.
IndexMap sized_map(std::vector<std::int64_t> offsets, std::shared_ptr<const SizedOrder> order);
/// Null if the map's vertices are known.
std::shared_ptr<const SizedOrder> sized_order(const IndexMap& index);
/// As if a partitioner had made parts of n vertices as equal as possible.
IndexMap sized_parts(std::int64_t vertices, Part parts);

}  // namespace gnnbench
