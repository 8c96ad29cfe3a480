#include "work_items.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include <gnnbench/usize.hpp>

namespace gnnbench::cuda {

RowLengths row_lengths(std::span<const i64> indptr) {
    RowLengths l;
    const auto rows = static_cast<i64>(indptr.size()) - 1;
    if (rows <= 0) return l;
    for (std::size_t r = 0; r + 1 < indptr.size(); ++r) l.longest = std::max(l.longest, indptr[r + 1] - indptr[r]);
    l.mean = static_cast<double>(indptr.back() - indptr.front()) / static_cast<double>(rows);
    return l;
}

i64 RowLengths::split_after() const { return std::clamp<i64>(static_cast<i64>(8 * mean), 512, 16384); }

namespace {

/// Sorted by the power of two below their lengths, in the order that they had among those of one.
std::vector<WorkItem> longest_first(const std::vector<WorkItem>& items) {
    const auto shortness = [](const WorkItem& i) { return usize(32 - std::bit_width(static_cast<u32>(i.count))); };
    std::array<std::size_t, 34> place{};
    for (const WorkItem& i : items) ++place[shortness(i) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<WorkItem> sorted(items.size());
    for (const WorkItem& i : items) sorted[place[shortness(i)]++] = i;
    return sorted;
}

}  // namespace

WorkPlan plan_work(std::span<const i64> indptr, i64 longest, std::span<const i32> row_at) {
    WorkPlan plan;
    plan.longest = longest;
    const auto rows = static_cast<i32>(indptr.size()) - 1;
    for (i32 r = 0; r < rows; ++r) {
        const i64 begin = indptr[usize(r)], end = indptr[usize(r) + 1];
        const i32 row = row_at.empty() ? r : row_at[usize(r)];
        if (end - begin <= longest) {
            plan.items.push_back({begin, static_cast<i32>(end - begin), row});
            continue;
        }
        const i64 parts = divided_up(end - begin, longest);
        plan.split.push_back({row, static_cast<i32>(plan.slots), static_cast<i32>(parts)});
        for (i64 p = 0; p < parts; ++p) {
            // Parts of equal length, one nonzero more in the first ones.
            const i64 size = (end - begin) / parts, more = (end - begin) % parts;
            const i64 first = begin + p * size + std::min(p, more);
            plan.items.push_back({first, static_cast<i32>(size + (p < more)), ~static_cast<i32>(plan.slots + p)});
        }
        plan.slots += parts;
    }
    plan.items = longest_first(plan.items);
    return plan;
}

UsedRows used_rows(std::span<const i64> indptr) {
    UsedRows used{{}, {0}};
    for (std::size_t r = 0; r + 1 < indptr.size(); ++r) {
        if (indptr[r + 1] == indptr[r]) continue;
        used.row_at.push_back(static_cast<i32>(r));
        used.indptr.push_back(indptr[r + 1]);
    }
    return used;
}

bool rows_mostly_empty(std::span<const i64> indptr) {
    i64 used = 0;
    for (std::size_t r = 0; r + 1 < indptr.size(); ++r) used += indptr[r + 1] > indptr[r];
    return 2 * used < static_cast<i64>(indptr.size());  // rows and one more
}

}  // namespace gnnbench::cuda
