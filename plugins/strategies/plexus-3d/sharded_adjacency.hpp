#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/shared_reading.hpp>
#include <gnnbench/usize.hpp>

#include "layout.hpp"
#include "sparse_rows.hpp"

namespace gnnbench::plexus {

using PreparedRowBlocks = std::vector<std::unique_ptr<PreparedMatrix>>;

/// This rank's shards of A [n_d × n_o] and Aᵀ [n_o × n_d]: one for each of the three planes that layers cycle
/// through, and twice as many where rows and columns are permuted apart (min(3, L), or min(6, L)). Each is cut in
/// row blocks, whose products are reduced one while the next is computed (section 5.2).
class ShardedAdjacency {
public:
    /// Layer 0 needs Aᵀ only where features are trained. Shards that multiply a compact F have its columns only.
    /// `together` reads them with the other ranks; null: each rank reads for itself.
    ShardedAdjacency(const Problem& problem, const VertexBlocks& vertices, const Layout& layout,
                     const SparsePlan& sparse, const Options& options, const SharedReader* together,
                     Backend& backend);
    std::span<const std::unique_ptr<PreparedMatrix>> row_blocks(int l, Direction d) const {
        const Shard& s = shards_.at(of_layer_[usize(l)]);
        return d == Direction::forward ? s.forward : s.backward;
    }
    /// Frees layer 0's shard unless another layer uses it: its aggregate is known.
    void drop_layer_0();
    /// What making it takes of the host's memory.
    static void state_cuts(HostStatement& m, const Problem& problem, const VertexBlocks& vertices,
                           const Layout& layout, const Options& options);
    std::string formats() const;

private:
    struct Shard {
        PreparedRowBlocks forward, backward;
    };
    using Key = std::pair<int, bool>;  ///< which shard, and whether for a compact F

    std::vector<Key> of_layer_;
    std::map<Key, Shard> shards_;
};

}  // namespace gnnbench::plexus
