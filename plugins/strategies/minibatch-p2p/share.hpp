#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <gnnbench/batches/source.hpp>
#include <gnnbench/batches/subgraph.hpp>
#include <gnnbench/batches/vertices.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/halo.hpp>

/// A rank's share of a batch: the rows of its subgraph that the rank owns in the partition of the whole graph.
///
/// Batch ids  B = {0 … |batch| − 1}, by position among the batch's vertices, which ascend by global id. All that is
/// said of parts, blocks and halos of whole graphs holds for the subgraph with B in place of G.

namespace gnnbench::minibatch {

/// A batch's subgraph under the partition of the whole graph. A part may own nothing of it.
struct DividedBatch {
    Subgraph subgraph;
    IndexMap index;
};
DividedBatch divide(Subgraph subgraph, const IndexMap& whole);

/// The blocks of one direction that a rank multiplies by, packed one after another for the way to the device: its own,
/// then those of the parts it receives from, ascending, without their empty columns.
struct PackedBlocks {
    struct Block {
        std::int64_t row_start = 0;     ///< in indptr, which counts each block's entries from 0
        std::int64_t entry_start = 0;   ///< in indices and values
        std::int64_t column_start = 0;  ///< in columns
        std::int64_t cols = 0;
        std::int64_t nonzeros = 0;
    };
    std::vector<Block> blocks;
    std::vector<Part> peers;  ///< of blocks[1], blocks[2] …
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    /// Original ids of the columns' vertices, block after block, where attention's dropout is drawn by them; else none.
    std::vector<std::int64_t> columns;
};

/// One direction of a share: which rows travel, and what they are multiplied by.
struct ShareSide {
    Halo halo;  ///< without its blocks, which are packed
    PackedBlocks blocks;
};

struct BatchShare {
    std::int64_t item = -1;
    BatchVertices vertices;
    ShareSide forward;
    std::optional<ShareSide> backward;  ///< none where Â is symmetric
    std::int64_t samples = 0;           ///< train vertices of the whole batch whose loss counts
};

/// Room for one direction of any batch's share.
struct SideRoom {
    HaloRoom halo;
    std::int64_t nonzeros = 0;
    std::int64_t columns = 0;  ///< of PackedBlocks::columns
};
struct ShareRoom {
    std::int64_t rows = 0;
    Part parts = 1;
    SideRoom forward;
    std::optional<SideRoom> backward;
};
/// Bounds: a batch's blocks have no nonzero, off the diagonal, that the whole graph's do not have.
ShareRoom share_room(const Problem& problem, Part part, const BatchSource& source);

/// Prepares one rank's shares on the host. Every rank makes the whole subgraph, because normalisation needs the degrees
/// of rows and columns that others own; it keeps its own rows.
class ShareMaker {
public:
    /// `problem`'s data and index, and `source`, must outlive it.
    ShareMaker(const Problem& problem, const BatchSource& source, Part part);
    /// Not from two threads at once.
    std::unique_ptr<BatchShare> make(std::int64_t item);

private:
    std::int64_t samples(const std::vector<GlobalId>& counting) const;

    DatasetView data_;
    ModelSpec model_;
    const IndexMap& whole_;
    const BatchSource& source_;
    Part part_;
    SubgraphMaker subgraphs_;
};

}  // namespace gnnbench::minibatch
