#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/communicator.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/lines.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/training/stated_volume.hpp>

/// Blocks of Â whose rows are several parts and whose columns are one part each, for the 2D and 3D strategies.

namespace gnnbench {

/// Parts {first … first + count − 1}; their positions in an IndexMap are one run.
struct PartRange {
    Part first = 0, count = 1;
    bool contains(Part p) const { return p >= first && p < first + count; }
    /// Vertices in them.
    std::int64_t size(const IndexMap& index) const { return index.offset(first + count) - index.offset(first); }
};

/// Block k [rows.size × size(panels[k])] of Â or Âᵀ has the rows of `rows`, by position, and the columns of part
/// panels[k]. Panels ascend.
std::vector<Csr> sparse_blocks(const Adjacency& a, const IndexMap& index, PartRange rows,
                               std::span<const Part> panels, Direction d);
/// How blocks are prepared: themselves or their transposes.
struct BlockForm {
    bool transpose = false;
    TransposedProducts products = TransposedProducts::none;
};
/// The same blocks, prepared. Where the back end holds no values they are not made, only counted.
std::vector<std::unique_ptr<PreparedMatrix>> prepare_blocks(const Adjacency& a, const IndexMap& index,
                                                            PartRange rows, std::span<const Part> panels,
                                                            Direction d, Backend& backend, BlockForm form = {});
/// Their nonzeros, without making them.
std::vector<std::int64_t> block_nonzeros(const Adjacency& a, const IndexMap& index, PartRange rows,
                                         std::span<const Part> panels, Direction d);
/// Calls use(k, block) for each of them, in order. Only some are in memory at a time: of many parts, each block's row
/// pointers would add up to as much as the whole graph's.
void for_each_block(const Adjacency& a, const IndexMap& index, PartRange rows, std::span<const Part> panels,
                    Direction d, const std::function<void(std::size_t k, const Csr& block)>& use);
/// Block k [lines.size() × size(panels[k])] has the entries of `lines` whose columns are in part panels[k] of `columns`.
std::vector<Csr> cut_lines(const Adjacency& a, const Lines& lines, const IndexMap& columns,
                           std::span<const Part> panels);
/// Sorts each row's entries by column.
void sort_columns(Csr& a, int threads);

/// A row of blocks of Â, and of Âᵀ, one per panel.
class PanelBlocks {
public:
    virtual ~PanelBlocks();
    /// c [rows × w] ← Â_k b, or Âᵀ_k b, b [size(panels[k]) × w]; added to c where `add` is set. False, and c
    /// untouched, where the block has no nonzero. Collective over the line that the blocks travel along, if they
    /// do.
    virtual bool multiply(Direction d, int k, ConstMatrixView b, MatrixView c, bool add) = 0;
    virtual std::string notes() const = 0;
};

/// Every block on this rank, prepared by its back end.
std::unique_ptr<PanelBlocks> keep_blocks(const Adjacency& a, const IndexMap& index, PartRange rows,
                                         std::span<const Part> panels, Backend& backend);

/// Ranks of `line` have the same rows and panels; each owns a run of panels, as equal as possible in number and in
/// the line's order, and broadcasts each block for every product: row starts (8 bytes) and column indices (4
/// bytes) as metadata, values as payload. Blocks without nonzeros are not sent.
std::unique_ptr<PanelBlocks> send_blocks(const Adjacency& a, const IndexMap& index, PartRange rows,
                                         std::span<const Part> panels, Backend& backend, Communicator& line);

/// What multiplying by every block once sends and receives, given block_nonzeros; `rank` is this one's in the
/// line.
void state_sent_blocks(VolumeStatement& v, std::int64_t rows, std::span<const std::int64_t> nonzeros, int ranks,
                       int rank);
/// A block that travels: row starts, column indices and values.
void state_block_memory(MemoryStatement& m, std::int64_t rows, std::int64_t nonzeros);
/// The blocks of one direction that this rank owns.
void state_sent_blocks_memory(MemoryStatement& m, std::int64_t rows, std::span<const std::int64_t> nonzeros,
                              int ranks, int rank);

}  // namespace gnnbench
