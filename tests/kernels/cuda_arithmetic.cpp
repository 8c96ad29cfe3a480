// The index arithmetic and draws of the kernel `cuda`, which device and host compile from the same headers.
#include <catch2/catch.hpp>

#include <numeric>
#include <set>
#include <vector>

#include <gnnbench/random.hpp>

#include "kernels/cuda/finish.hpp"
#include "kernels/cuda/tiling.hpp"
#include "kernels/cuda/work_items.hpp"

using namespace gnnbench;
using namespace gnnbench::cuda;

namespace {

Mask mask_of(const DropoutMask& m) {
    return {.active = m.active(),
            .threshold = m.threshold(),
            .key0 = static_cast<u32>(m.seed),
            .key1 = static_cast<u32>(m.seed >> 32) ^ (static_cast<u32>(Draw::dropout) * 0x9E3779B9u),
            .stream = m.stream(),
            .first_column = m.first_column};
}

/// Whether a head's coefficient is dropped, as attention's kernels find it.
bool dropped_entry(const Mask& mask, i64 row, i64 column, u32 head) {
    return mask.words(entry_key(row, column), head / 4).of(head % 4) < mask.threshold;
}

std::vector<i64> starts(const std::vector<i64>& lengths) {
    std::vector<i64> indptr = {0};
    for (const i64 n : lengths) indptr.push_back(indptr.back() + n);
    return indptr;
}

}  // namespace

TEST_CASE("cuda: attention drops the entries that DropoutMask drops, by row and column") {
    const DropoutMask wanted{.rate = 0.5, .seed = 0xfedcba9876543210u, .layer = 5, .epoch = 99};
    Mask mask = mask_of(wanted);
    mask.key1 ^= static_cast<u32>(Draw::dropout) * 0x9E3779B9u ^ static_cast<u32>(Draw::attention) * 0x9E3779B9u;
    int differ = 0;
    for (const i64 row : {i64{0}, i64{3}, (i64{1} << 31) - 1})
        for (const i64 column : {i64{1}, i64{3}, (i64{1} << 31) - 2})
            for (u32 head = 0; head < 9; ++head) {
                INFO("row " << row << ", column " << column << ", head " << head);
                CHECK(dropped_entry(mask, row, column, head) == (wanted.kept_share(row, column, head) == 0));
                differ += dropped_entry(mask, row, column, head) != dropped_entry(mask, column, row, head);
            }
    CHECK(differ > 0);
}

TEST_CASE("cuda: the generator draws what the host draws, and a row's mask drops what DropoutMask drops") {
    for (const std::int64_t vertex : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 40})
        for (const std::uint32_t first : {0u, 1u, 4u, 6u}) {
            const DropoutMask wanted{
                .rate = 0.37, .seed = 0xfedcba9876543210u, .layer = 5, .epoch = 99, .first_column = first};
            const Mask mask = mask_of(wanted);
            const auto block =
                philox(wanted.seed, Draw::dropout, static_cast<std::uint64_t>(vertex), 3, wanted.stream());
            for (u32 i = 0; i < 4; ++i) CHECK(mask.words(vertex, 3).of(i) == block[i]);
            for (const u32 begin : {0u, 1u, 5u}) {
                RowMask row(mask, vertex);
                for (u32 c = begin; c < begin + 23; ++c) {
                    INFO("vertex " << vertex << ", column " << first << " + " << c);
                    CHECK(row.dropped(c) == wanted.dropped(vertex, c));
                }
            }
        }
}

TEST_CASE("cuda: work items hold every nonzero once, no more than allowed, long ones first") {
    std::vector<i64> random;
    RandomStream draw(3, Draw::graph);
    for (int r = 0; r < 500; ++r) random.push_back(static_cast<i64>(draw.below(r % 50 == 0 ? 5000 : 30)));
    for (const std::vector<i64>& lengths : {std::vector<i64>{}, std::vector<i64>{0}, std::vector<i64>{0, 7, 0},
                                            std::vector<i64>{64, 65, 63, 129}, random})
        for (const i64 longest : {1, 3, 64, 100000}) {
            const auto indptr = starts(lengths);
            const WorkPlan plan = plan_work(indptr, longest);
            std::vector<int> seen(static_cast<std::size_t>(indptr.back()));
            std::vector<i32> row_of_slot(static_cast<std::size_t>(plan.slots), -1);
            for (const SplitRow& s : plan.split) {
                CHECK(s.slots == divided_up(lengths[static_cast<std::size_t>(s.row)], longest));
                for (i32 i = 0; i < s.slots; ++i)
                    row_of_slot.at(static_cast<std::size_t>(s.first_slot + i)) = s.row;
            }
            std::set<i32> targets;
            bool wrong_row = false, too_long = false;
            for (const WorkItem& item : plan.items) {
                too_long = too_long || item.count > longest;
                targets.insert(item.target);
                const i32 row =
                    item.target >= 0 ? item.target : row_of_slot.at(static_cast<std::size_t>(~item.target));
                const auto r = static_cast<std::size_t>(row);
                wrong_row = wrong_row || item.begin < indptr[r] || item.begin + item.count > indptr[r + 1];
                for (i64 p = item.begin; p < item.begin + item.count; ++p) ++seen[static_cast<std::size_t>(p)];
            }
            INFO(lengths.size() << " rows, at most " << longest);
            CHECK_FALSE(wrong_row);
            CHECK_FALSE(too_long);
            CHECK(targets.size() == plan.items.size());
            CHECK(plan.items.size() + plan.split.size() == lengths.size() + static_cast<std::size_t>(plan.slots));
            CHECK(std::count(seen.begin(), seen.end(), 1) == indptr.back());
            for (std::size_t i = 1; i < plan.items.size(); ++i)
                if (plan.items[i].count >= 2 * std::max(plan.items[i - 1].count, 1))
                    FAIL("item " << i << " is longer");
        }
}

TEST_CASE("cuda: of a matrix of mostly empty rows, those in use are listed, found again, and named by items") {
    const auto indptr = starts({0, 3, 0, 0, 700, 0, 0, 1, 0});
    CHECK(rows_mostly_empty(indptr));
    CHECK(rows_mostly_empty(starts({0, 1})));
    CHECK(rows_mostly_empty(starts({0})));
    CHECK_FALSE(rows_mostly_empty(starts({0, 1, 1})));
    CHECK_FALSE(rows_mostly_empty(starts({1})));
    const UsedRows used = used_rows(indptr);
    CHECK(used.row_at == std::vector<i32>{1, 4, 7});
    CHECK(used.indptr == std::vector<i64>{0, 3, 703, 704});
    for (i64 row = 0; row < 9; ++row)
        CHECK(is_used(used.row_at.data(), 3, row) == (row == 1 || row == 4 || row == 7));
    CHECK_FALSE(is_used(nullptr, 0, 5));
    const WorkPlan plan = plan_work(used.indptr, 512, used.row_at);
    REQUIRE(plan.split.size() == 1);
    CHECK(plan.split[0].row == 4);
    std::set<i32> targets;
    for (const WorkItem& item : plan.items) targets.insert(item.target);
    CHECK(targets == std::set<i32>{~1, ~0, 1, 7});
}

TEST_CASE("cuda: rows are uneven where few of them hold up the rest") {
    CHECK_FALSE(row_lengths(starts({})).uneven());
    CHECK_FALSE(row_lengths(starts({5000, 5000})).uneven());
    std::vector<i64> star(1000, 2);
    CHECK_FALSE(row_lengths(starts(star)).uneven());
    star[10] = 5000;
    const RowLengths lengths = row_lengths(starts(star));
    CHECK(lengths.uneven());
    CHECK(lengths.longest == 5000);
    CHECK(lengths.split_after() == 512);
}

TEST_CASE("cuda: tilings cover every column of every width once") {
    const auto check_tiling = [](i64 width, int pack, const Tiling& t) {
        CHECK(block_threads % t.lanes == 0);
        std::vector<int> covered(static_cast<std::size_t>(width));
        for (i64 tile = 0; tile < t.column_tiles(width); ++tile)
            for (int lane = 0; lane < t.lanes; ++lane)
                for (int k = 0; k < t.packs; ++k)
                    for (int i = 0; i < pack; ++i)
                        if (const i64 c = t.column(tile, lane, k) + i; c < width)
                            ++covered[static_cast<std::size_t>(c)];
        if (std::count(covered.begin(), covered.end(), 1) != width) FAIL("width " << width << ", pack " << pack);
    };
    for (i64 width = 1; width <= 1100; ++width)
        for (const int widest : {4, 2})
            for (int pack = widest; pack >= 1; pack /= 2) {
                if (width % pack != 0) continue;
                check_tiling(width, pack, spmm_tiling(width, pack, widest));
                const Tiling panel = spmm_tiling(width, pack, widest, true);
                check_tiling(width, pack, panel);
                CHECK(panel.tile_columns() <= panel_lanes * widest);
            }
}

TEST_CASE("cuda: packs are as wide as width, addresses and leading dimensions allow") {
    alignas(16) float x[16] = {};
    const PackChoice f32 = packs_of<float>, f64 = packs_of<double>;
    CHECK(f32.pack(8, x, 8) == 4);
    CHECK(f32.pack(6, x, 8) == 2);
    CHECK(f32.pack(41, x, 44) == 1);
    CHECK(f32.pack(8, x, 10) == 2);
    CHECK(f32.pack(8, x + 2, 8) == 2);
    CHECK(f32.pack(8, x + 1, 8) == 1);
    CHECK(f32.pack(8, x, 8, x + 2, 8) == 2);
    CHECK(f32.pack(8, x, 8, static_cast<float*>(nullptr), 8) == 4);
    CHECK(f64.pack(8, x, 8) == 2);
    CHECK(f64.pack(8, x + 2, 8) == 1);
}
