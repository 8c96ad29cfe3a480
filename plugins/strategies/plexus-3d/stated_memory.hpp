#pragma once
#include <cstdint>

#include <gnnbench/training/host_statement.hpp>

#include "layout.hpp"
#include "sparse_rows.hpp"
#include "stated_volume.hpp"

namespace gnnbench::plexus {

/// The memory of `layout`'s rank without its shards of A, by README.md's formulas with the actual block sizes; with
/// tuning, until the choice is made. In bytes.
std::int64_t held_memory(const Problem& problem, const Layout& layout, const SparsePlan& sparse,
                         const Options& options, const EpochKind& kind, std::int64_t element_bytes);

/// What the rank's process holds as it sets up: the orders of vertices, its data, its shards as they are cut.
void state_set_up(HostStatement& m, const Problem& problem, const Layout& layout, const VertexBlocks& vertices,
                  const Options& options);

}  // namespace gnnbench::plexus
