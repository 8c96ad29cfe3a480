#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/communicator.hpp>
#include <gnnbench/event.hpp>
#include <gnnbench/training/stated_memory.hpp>

#include "held_copies.hpp"

namespace gnnbench::dist {

/// Rows of a bin between the ranks of copies and those of their roots. Matrices `rows` are [HeldCopies::rows() × f], with roots
/// first; what travels is contiguous.
class CopyExchange {
public:
    /// `widest`: the most columns of add_at_roots, take_from_roots and arriving.
    CopyExchange(Backend& backend, Communicator& world, const HeldCopies& copies, std::int64_t widest);
    static void state_memory(MemoryStatement& m, const HeldCopies& copies, std::int64_t widest);

    /// Waits for both: at the roots, rows ← rows + those of the bin's copies; at the copies, rows ← those of their roots.
    void add_at_roots(int bin, MatrixView rows);
    void take_from_roots(int bin, MatrixView rows);

    /// The bin's copies among `rows`.
    MatrixView copies_of(MatrixView rows, int bin) const;
    /// Room for the bin's lent rows [lent × f], until the next exchange.
    MatrixView room(int bin, std::int64_t columns) const;
    /// lent ← what the bin's copies have; the other way round.
    void collect(int bin, MatrixView copies, MatrixView lent);
    void give_back(int bin, MatrixView lent, MatrixView copies);
    Event start_collecting(Communicator& channel, int bin, MatrixView copies, MatrixView lent) const;
    Event start_giving_back(Communicator& channel, int bin, MatrixView lent, MatrixView copies) const;
    /// The roots' rows ← rows + lent; lent ← the roots' rows.
    void add(int bin, MatrixView lent, MatrixView rows);
    void gather(int bin, MatrixView rows, MatrixView lent);

private:
    std::vector<RowMessage> of_copies(int bin, MatrixView rows) const;
    std::vector<RowMessage> of_lent(int bin, MatrixView rows) const;

    Backend& backend_;
    Communicator& world_;
    const HeldCopies& copies_;
    Matrix room_;
    Array<std::int32_t> lent_rows_;
};

}  // namespace gnnbench::dist
