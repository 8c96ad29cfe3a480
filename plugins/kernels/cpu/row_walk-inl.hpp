// Included once per instruction set (Highway's way): no #pragma once.
#if defined(GNNBENCH_CPU_ROW_WALK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_ROW_WALK_INL
#undef GNNBENCH_CPU_ROW_WALK_INL
#else
#define GNNBENCH_CPU_ROW_WALK_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>

#include <gnnbench/usize.hpp>

#include "ahead.hpp"
#include "attention.hpp"
#include "simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {

/// Goes through the entries of a run of rows some entries before they are worked on, and asks for their rows of B.
template <class T>
class RowsAhead {
public:
    RowsAhead(const OrderedRows<T>& a, RowRange rows, ConstMatrixView b)
        : a_(a), b_(b), position_(rows.begin), end_(rows.end) {
        next_row();
        const std::int64_t distance = ahead_of_random_rows(b.cols * static_cast<std::int64_t>(sizeof(T))).second;
        ask_for(distance);
    }
    /// For as many more.
    HWY_INLINE void ask_for(std::int64_t entries) {
        for (; entries > 0 && position_ < end_; --entries) {
            prefetch_row<2>(row_of<T>(b_, a_.indices[entry_]), b_.cols);
            if (++entry_ == last_) {
                ++position_;
                next_row();
            }
        }
    }

private:
    void next_row() {
        for (; position_ < end_; ++position_) {
            const std::int64_t r = a_.at(position_);
            entry_ = a_.indptr[r];
            last_ = a_.indptr[r + 1];
            if (entry_ < last_) break;
        }
        if (a_.order && position_ + 1 < end_) {
            // Rows that follow each other in the order lie apart in memory.
            const std::int64_t first = a_.indptr[a_.order[position_ + 1]];
            for (std::int64_t e = 0; e < 64; e += 16) {
                __builtin_prefetch(a_.indices + first + e);
                __builtin_prefetch(a_.values + first + e);
            }
        }
    }
    const OrderedRows<T>& a_;
    ConstMatrixView b_;
    std::int64_t position_, end_, entry_ = 0, last_ = 0;
};

/// The rows of B of some entries of a row, brought into the first cache.
template <class T>
struct EntryRows {
    std::array<const T*, 64> rows;
    HWY_INLINE void take(const OrderedRows<T>& a, ConstMatrixView b, std::int64_t first, std::int64_t count) {
        for (std::int64_t e = 0; e < count; ++e) {
            rows[usize(e)] = row_of<T>(b, a.indices[first + e]);
            prefetch_row<1>(rows[usize(e)], b.cols);
        }
    }
};

/// Row `position + 1` of the run, to be written: in an order of its own no hardware foresees it.
template <class T>
HWY_INLINE void ask_for_result(const OrderedRows<T>& a, std::int64_t position, RowRange rows, ConstMatrixView m) {
    if (!a.order || position + 1 >= rows.end || m.cols == 0) return;
    const T* row = row_of<T>(m, a.order[position + 1]);
    for (std::int64_t c = 0; c < m.cols; c += 64 / static_cast<std::int64_t>(sizeof(T)))
        __builtin_prefetch(row + c, 1, 2);
    __builtin_prefetch(row + m.cols - 1, 1, 2);
}

/// Entries whose rows of `columns` numbers of T fill about half of a first-level cache.
template <class T>
std::int64_t entries_of_chunk(std::int64_t columns) {
    return std::clamp<std::int64_t>((1 << 14) / (columns * static_cast<std::int64_t>(sizeof(T))), 8, 64);
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
