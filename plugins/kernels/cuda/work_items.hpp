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

/// `row_at`: what the rows are called; empty: by their place.
WorkPlan plan_work(std::span<const i64> indptr, i64 longest, std::span<const i32> row_at = {});

/// The rows of a matrix that have nonzeros, one after another.
struct UsedRows {
    std::vector<i32> row_at;  ///< ascending
    std::vector<i64> indptr;  ///< length row_at + 1
};
UsedRows used_rows(std::span<const i64> indptr);

/// Whether storing only the rows in use pays: where at most half of them are, as in the block between two of many parts.
bool rows_mostly_empty(std::span<const i64> indptr);

/// Whether `row` is one of `row_at` [count], which ascend.
GNNBENCH_HOST_DEVICE bool is_used(const i32* row_at, i64 count, i64 row) {
    i64 first = 0, end = count;
    while (first < end) {
        const i64 middle = (first + end) / 2;
        if (row_at[middle] < row)
            first = middle + 1;
        else
            end = middle;
    }
    return first < count && row_at[first] == row;
}

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
