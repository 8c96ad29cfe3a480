#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <gnnbench/communicator.hpp>
#include <gnnbench/training/distributed_spmm.hpp>
#include <gnnbench/training/sparsity.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/usize.hpp>

/// Halo exchange for the sparsity-aware strategies: a rank receives only the rows that its nonzero columns need.

namespace gnnbench {

/// One rank's share of a product by Â (or Âᵀ), as sets. With A^d = Â or Âᵀ, block A^d_ij [size(i) × size(j)], this
/// rank's part i, and J the columns of blocks it holds:
///   needed[j] = { c : column c of A^d_ij has a nonzero },  j ∈ J \ {i}   rows of part j that this rank receives
///   sent[j]   = { r : column r of A^d_ji has a nonzero },  j ≠ i         rows of part i that part j needs
/// Both ascending, local ids. The halo is the concatenation of needed[0], needed[1], …
struct Halo {
    std::vector<std::vector<std::int32_t>> needed, sent;  ///< by part
    Csr own;                                              ///< A^d_ii; no nonzeros where i ∉ J
    /// A^d_ij of all j ∈ J \ {i} side by side, without their empty columns: [size(i) × needed_rows()].
    Csr remote;

    std::int64_t needed_rows() const;
    std::int64_t sent_rows() const;
    /// Cuts `remote` into its blocks, part by part: of each part j that has any, its columns [size(i) × |needed[j]|].
    void each_block(const std::function<void(Part, Csr)>& use) const;
};
/// Every rank of the group holds the same columns of blocks, so part i is sent to other ranks only where i ∈ J.
Halo make_halo(const Adjacency& a, const IndexMap& index, Part i, Direction d, const HoldsBlock& holds);

/// A part's halo as its back end needs it: where the graph's entries are there, make_halo's blocks and lists of rows; else
/// their sizes.
class HaloBlocks {
public:
    HaloBlocks(const Adjacency& a, const IndexMap& index, Part i, Direction d, const HoldsBlock& holds,
               Backend& backend);

    /// |needed[j]| and |sent[j]|, and their sums over all parts.
    const std::vector<std::int64_t>& needed() const { return needed_; }
    const std::vector<std::int64_t>& sent() const { return sent_; }
    std::int64_t needed_rows() const;
    std::int64_t sent_rows() const;
    /// sent[j] on the device.
    Array<std::int32_t> sent_list(Part j) const;

    // A^d_ii; A^d_ij of all others side by side, without their empty columns; each part's alone, likewise, in their order.
    std::unique_ptr<PreparedMatrix> own() const;
    std::unique_ptr<PreparedMatrix> own_transposed() const;
    std::unique_ptr<PreparedMatrix> remote() const;
    std::unique_ptr<PreparedMatrix> remote_transposed() const;
    void each_block(const std::function<void(Part, std::unique_ptr<PreparedMatrix>)>& use) const;

private:
    void take_sizes(const Adjacency& a, const IndexMap& index, Part i, const HoldsBlock& holds);
    friend class HaloExchange;

    Backend& backend_;
    int threads_;
    std::optional<Halo> halo_;  ///< without: sizes alone are known
    std::vector<std::int64_t> needed_, sent_;
    SparseSize own_, remote_;
    std::vector<std::int64_t> nonzeros_;  ///< of A^d_ij, by part
};

/// Rows that a HaloExchange has room for.
struct HaloRoom {
    std::int64_t needed_rows = 0, sent_rows = 0;
};

/// A halo's rows in flight: a packed send buffer and a receive buffer, each with one segment per part, and the
/// index lists on the device. The return direction uses the same segments in reverse.
class HaloExchange {
public:
    /// Buffers hold rows of up to `widest` columns.
    HaloExchange(const Halo& halo, Backend& backend, std::int64_t widest);
    HaloExchange(const HaloBlocks& halo, Backend& backend, std::int64_t widest);
    /// For halos that change: nothing to exchange until one is loaded.
    HaloExchange(const HaloRoom& room, Backend& backend, std::int64_t widest);
    static void state_memory(MemoryStatement& m, const HaloRoom& room, std::int64_t widest);
    /// The halo of the following exchanges; there must be room for its rows. Nothing may be in flight.
    void load(const Halo& halo);
    /// Rows that are needed and sent now.
    HaloRoom rows() const { return {needed_start_.back(), sent_start_.back()}; }

    /// H̃ ← the rows of the others' b that this rank needs, in one all-to-all-v: `received` has them afterwards. Where
    /// ranks read each other's memory they are copied from where they lie, else packed and sent.
    void gather_now(Communicator& world, ConstMatrixView b);
    /// The same, to be waited for before `received` or b's change.
    Event gather(Communicator& world, ConstMatrixView b);
    /// The same by a message from each peer: an event for each part with needed rows, ascending, and one for those sent.
    std::vector<Event> gather_each(Communicator& world, ConstMatrixView b);

    /// Packs the rows of b to send and returns the messages that carry them, without empty ones.
    std::vector<RowMessage> pack(ConstMatrixView b);
    /// The messages that receive the needed rows.
    std::vector<RowMessage> receives(std::int64_t width);
    MatrixView received(Part j, std::int64_t width);
    /// The received rows of all parts, concatenated: the operand of Halo::remote.
    MatrixView received(std::int64_t width);

    /// Return direction: partial sums of needed rows, which the caller has put into `received`, are added to their
    /// owners' rows of c. Between start and finish the caller may compute c; `received` must stay as it is.
    Event start_return(Communicator& world, std::int64_t width);
    void finish_return(Communicator& world, const Event& started, MatrixView c);
    /// Both at once.
    void return_now(Communicator& world, MatrixView c);

    /// Rows are received once more, summed up for by `remote`, the halo's block, and returned to `sum`'s. `room`: a row for each
    /// that is needed.
    void return_sums(Communicator& world, ReturnedSum& sum, const ReturnedSum::Block& own,
                     const ReturnedSum::Block& remote, const Matrix& room);

    /// By messages, they leave from the receive buffer, and arrive in the send buffer.
    std::vector<RowMessage> return_sends(std::int64_t width) { return receives(width); }
    std::vector<RowMessage> return_receives(std::int64_t width);
    void add_returned(MatrixView c);

    // The same in buffers of the caller's, for rows that stay in flight while others are exchanged: one row for each that
    // is sent, or needed, of at least `width` columns.
    std::vector<RowMessage> pack(ConstMatrixView b, const Matrix& sent) const;
    std::vector<RowMessage> sent_messages(const Matrix& sent, std::int64_t width) const;
    std::vector<RowMessage> needed_messages(const Matrix& needed, std::int64_t width) const;
    void add_returned(const Matrix& sent, MatrixView c) const;

private:
    /// From sizes alone: no rows are listed. For back ends without values.
    void start_from(const std::vector<std::int64_t>& needed, const std::vector<std::int64_t>& sent);
    std::vector<RowSet> needed_sets(std::int64_t width);
    std::vector<RowSet> sent_sets() const;

    std::vector<std::int64_t> needed_start_, sent_start_;  ///< by part, length parts + 1: rows before
    std::vector<std::int32_t> needed_, sent_;  ///< by part, one after another; empty: sizes alone are known
    Backend& backend_;
    Matrix send_, receive_;
    Array<std::int32_t> sent_rows_;  ///< concatenated `sent`
};

/// Numbers of distinct nonzero columns and rows of the blocks of Â in one part's row and column of blocks, from which
/// sparsity-aware volumes follow; counted independently of any rank's halo.
class BlockCounts {
public:
    BlockCounts(const Adjacency& a, const IndexMap& index, Part part);
    /// Counts of block (i, j), where i or j is `part`.
    std::int64_t nonzero_columns(Part i, Part j) const {
        return i == part_ ? row_.columns[usize(j)] : column_.rows[usize(i)];
    }
    std::int64_t nonzero_rows(Part i, Part j) const {
        return i == part_ ? row_.rows[usize(j)] : column_.columns[usize(i)];
    }

private:
    Part part_;
    LineCounts row_, column_;
};

/// How backward computes Âᵀ G: from gathered rows of G for Âᵀ's blocks, or from partial sums Âᵢⱼᵀ Gᵢ sent to owners.
enum class BackwardExchange : std::uint8_t { gather, return_sums };

/// The halo of one part of `parts` in one direction, known by its counts.
struct HaloShape {
    const BlockCounts& counts;
    Part part, parts;
    Direction direction;
    HoldsBlock holds = every_block;  ///< the columns of blocks that the part's rank multiplies
};

/// What one product sends and receives in rows of `row_bytes`; `op`: all_to_all or point_to_point.
Volume halo_volume(const HaloShape& halo, BackwardExchange backward, CommOp op, std::int64_t row_bytes);
/// The rows that it needs and sends.
HaloRoom rows_of(const HaloShape& halo);
/// What a HaloExchange holds: both buffers, and the list of sent rows.
void state_halo_memory(MemoryStatement& m, const HaloShape& halo, std::int64_t widest);

}  // namespace gnnbench
