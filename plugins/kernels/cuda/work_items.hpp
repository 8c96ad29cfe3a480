#pragma once
#include <span>
#include <vector>

#include "host_device.hpp"

namespace gnnbench::cuda {

/// A run of one row's nonzeros, multiplied by one group of threads.
struct WorkItem {
    i64 begin;   ///< its first nonzero
    i32 count;   ///< nonzeros
    i32 target;  ///< the row; for a part of a row ~slot, the place of its partial sum
};

/// A row too long for one group: its partial sums lie in slots [first_slot, first_slot + slots).
struct SplitRow {
    i32 row;
    i32 first_slot;
    i32 slots;
};

/// The rows of a matrix as items of at most `longest` nonzeros. Every nonzero is in exactly one item; every row
/// has an item of its own or is split. Long items come first, so that none is left over at the end, and rows of
/// similar length are neighbours, so that the groups of one warp end together; among those the matrix's order is
/// kept.
struct WorkPlan {
    std::vector<WorkItem> items;
    std::vector<SplitRow> split;
    i64 slots = 0;
    i64 longest = 0;
};

WorkPlan plan_work(std::span<const i64> indptr, i64 longest);

/// Statistics of the rows' lengths, which decide how to distribute them.
struct RowLengths {
    double mean = 0;
    i64 longest = 0;

    /// Whether one thread group per row would leave most of the device waiting for a few.
    bool uneven() const { return longest > 256 && static_cast<double>(longest) > 8 * mean; }
    /// Nonzeros after which a row is split.
    i64 split_after() const;
};

RowLengths row_lengths(std::span<const i64> indptr);

}  // namespace gnnbench::cuda
