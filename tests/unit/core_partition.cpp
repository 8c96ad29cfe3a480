#include <algorithm>
#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "contract/graphs.hpp"

using namespace gnnbench;

TEST_CASE("an index map refuses a part that is not there") {
    CHECK_THROWS_WITH(IndexMap(Partition{.parts = 2, .part_of = {0, 2}, .column_part_of = {}}),
                      "a partition of 2 parts holds part 2, of vertex 1");
}

TEST_CASE("an index map refuses an order that is no permutation") {
    const auto with = [](std::vector<std::int32_t> order) {
        return IndexMap(
            Partition{.parts = 2, .part_of = {0, 1, 0}, .column_part_of = {}, .order = std::move(order)});
    };
    CHECK_THROWS_WITH(with({0, 1}), "a partition orders 2 vertices of 3");
    CHECK_THROWS_WITH(with({0, 1, 3}), "a partition's order holds vertex 3");
    CHECK_THROWS_WITH(with({0, -1, 2}), "a partition's order holds vertex -1");
    CHECK_THROWS_WITH(with({0, 1, 1}), "a partition's order holds vertex 1 twice");
    CHECK_NOTHROW(with({2, 0, 1}));
}

TEST_CASE("a partition is held to what was asked for") {
    const auto check = [](Partition p, PartitionNeed need, std::int64_t n) { check_partition(p, need, {n}); };
    const Partition good{.parts = 2, .part_of = {0, 1, 0}, .column_part_of = {}};
    CHECK_NOTHROW(check(good, {.parts = 2}, 3));
    CHECK_THROWS_WITH(check(good, {.parts = 3}, 3), "a partition has 2 parts; 3 were asked for");
    CHECK_THROWS_WITH(check(good, {.parts = 2}, 4), "a partition gives parts to 3 vertices; the graph has 4");
    CHECK_THROWS_WITH(check(good, {.parts = 2, .column_parts = 2}, 3),
                      "a partition gives parts to 0 columns; the graph has 3");
    Partition apart = good;
    apart.column_part_of = {0, 0, 1};
    CHECK_NOTHROW(check(apart, {.parts = 2, .column_parts = 2}, 3));
    CHECK_THROWS_WITH(check(apart, {.parts = 2, .column_parts = 1}, 3),
                      "a partition of 1 parts holds part 1, of column 2");
    CHECK_THROWS_WITH(check(apart, {.parts = 2}, 3),
                      "a partition divides the columns apart, which nobody asked for");
}

TEST_CASE("a vertex cut is asked for, and gives every entry a part") {
    const GraphSize graph{.vertices = 3, .edges = 2};
    Partition cut{.parts = 2, .part_of = {0, 1, 0}, .column_part_of = {}};
    CHECK_THROWS_WITH(check_partition(cut, {.parts = 2, .vertex_cut = true}, graph),
                      "a partition gives parts to 0 entries; the graph has 2");
    cut.part_of_entry = {1, 0};
    CHECK_NOTHROW(check_partition(cut, {.parts = 2, .vertex_cut = true}, graph));
    CHECK_THROWS_WITH(check_partition(cut, {.parts = 2}, graph),
                      "a partition deals entries to parts, which nobody asked for");
    cut.part_of_entry = {1, 2};
    CHECK_THROWS_WITH(check_partition(cut, {.parts = 2, .vertex_cut = true}, graph),
                      "a partition of 2 parts holds part 2, of entry 1");
}

TEST_CASE("an index map has the parts of entries, whether positions are ids or not") {
    for (const std::vector<Part>& roots : {std::vector<Part>{0, 0, 1}, std::vector<Part>{1, 0, 1}}) {
        const IndexMap m(
            Partition{.parts = 2, .part_of = roots, .column_part_of = {}, .part_of_entry = {1, 0, 1, 1}});
        CHECK(m.identity() == std::ranges::is_sorted(roots));
        CHECK(std::ranges::equal(m.part_of_entry(), std::vector<Part>{1, 0, 1, 1}));
        CHECK(m.owned(1).size() == (roots[0] == 1 ? 2 : 1));
    }
    CHECK(IndexMap(Partition{.parts = 2, .part_of = {1, 0}, .column_part_of = {}}).part_of_entry().empty());
}

TEST_CASE("an index map orders parts one after another, original ids ascending inside, empty parts allowed") {
    const IndexMap m(Partition{.parts = 4, .part_of = {2, 0, 2, 3, 0}, .column_part_of = {}});
    CHECK(m.size(0) == 2);
    CHECK(m.size(1) == 0);
    CHECK(m.size(2) == 2);
    CHECK(m.largest() == 2);
    CHECK(value(m.global(0, LocalId{0})) == 1);
    CHECK(value(m.global(0, LocalId{1})) == 4);
    CHECK(value(m.global(2, LocalId{1})) == 2);
    for (std::int64_t v = 0; v < 5; ++v)
        CHECK(m.global(m.part_of(GlobalId{v}), m.local(GlobalId{v})) == GlobalId{v});
}

TEST_CASE("inside a part vertices lie in the partition's order") {
    const IndexMap m(
        Partition{.parts = 3, .part_of = {2, 0, 2, 0, 0}, .column_part_of = {}, .order = {4, 2, 1, 0, 3}});
    const auto ids = [&](Part p) {
        std::vector<std::int64_t> all;
        for (const GlobalId v : m.owned(p)) all.push_back(value(v));
        return all;
    };
    CHECK(ids(0) == std::vector<std::int64_t>{4, 1, 3});
    CHECK(ids(1).empty());
    CHECK(ids(2) == std::vector<std::int64_t>{2, 0});
    for (std::int64_t v = 0; v < 5; ++v)
        CHECK(m.global(m.part_of(GlobalId{v}), m.local(GlobalId{v})) == GlobalId{v});
}

TEST_CASE("an index map without arrays: where every position is an id") {
    const IndexMap runs(Partition{.parts = 4, .part_of = {0, 0, 2, 3, 3}, .column_part_of = {}});
    CHECK(runs.identity());
    CHECK(runs.offsets() == std::vector<std::int64_t>{0, 2, 2, 3, 5});
    for (std::int64_t v = 0; v < 5; ++v) {
        CHECK(runs.position(GlobalId{v}) == v);
        CHECK(runs.vertex_at(v) == GlobalId{v});
    }
    CHECK(runs.part_of(GlobalId{2}) == 2);
    CHECK(value(runs.local(GlobalId{4})) == 1);
    CHECK(runs.owned(2, 2).size() == 3);
    CHECK(IndexMap::one_part(7).identity());
    CHECK(IndexMap::one_part(0).vertices() == 0);
    const IndexMap reversed(Partition{.parts = 1, .part_of = {0, 0}, .column_part_of = {}, .order = {1, 0}});
    CHECK_FALSE(reversed.identity());
    CHECK_FALSE(reversed.by_id());
}

TEST_CASE("the part at a position, of parts of very different sizes") {
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t size : {0, 1, 0, 0, 30000, 7, 0, 200000, 1, 1, 0}) offsets.push_back(offsets.back() + size);
    const IndexMap m(offsets, true, {});
    std::int64_t wrong = 0;
    for (Part p = 0; p < m.parts(); ++p)
        for (std::int64_t at = m.offset(p); at < m.offset(p + 1); ++at) wrong += m.part_at(at) != p;
    CHECK(wrong == 0);
}

TEST_CASE("what parts contribute adds up to the quality") {
    const auto g = graphs::directed_random(60, 500, false);
    Partition p{.parts = 5, .part_of = {}, .column_part_of = {}};
    for (Part v = 0; v < 60; ++v) p.part_of.push_back((v * v + v / 3) % 4);  // the last part is empty
    const IndexMap index(p);
    PartQuality sum, most;
    for (Part part = 0; part < 5; ++part) {
        const PartQuality q = measure_part(g.view(), index, part);
        sum = {sum.edge_cut + q.edge_cut, sum.needed + q.needed, sum.vertices + q.vertices,
               sum.nonzeros + q.nonzeros};
        most.vertices = std::max(most.vertices, q.vertices);
        most.nonzeros = std::max(most.nonzeros, q.nonzeros);
    }
    const PartitionQuality whole = measure_quality(g.view(), p);
    CHECK(sum.edge_cut == whole.edge_cut);
    CHECK(sum.needed == whole.connectivity_minus_one);
    CHECK(sum.vertices == 60);
    CHECK(static_cast<double>(most.vertices) * 5 / 60 == Approx(whole.vertex_imbalance));
    CHECK(static_cast<double>(most.nonzeros) * 5 / static_cast<double>(sum.nonzeros) ==
          Approx(whole.nonzero_imbalance));
}

TEST_CASE("partition quality by hand: a path 0-1-2-3 cut in the middle") {
    const auto g = graphs::from_entries("path", 4, graphs::both_ways({{0, 1}, {1, 2}, {2, 3}}));
    const auto q = measure_quality(g.view(), {.parts = 2, .part_of = {0, 0, 1, 1}, .column_part_of = {}});
    CHECK(q.edge_cut == 2);                // 1 ← 2 and 2 ← 1
    CHECK(q.connectivity_minus_one == 2);  // columns 1 and 2 are needed once elsewhere
    CHECK(q.vertex_imbalance == Approx(1));
    CHECK(q.nonzero_imbalance == Approx(1));
    const auto lopsided = measure_quality(g.view(), {.parts = 2, .part_of = {0, 0, 0, 1}, .column_part_of = {}});
    CHECK(lopsided.vertex_imbalance == Approx(1.5));
    CHECK(lopsided.nonzero_imbalance == Approx(8.0 * 2 / 10));  // rows of 2, 3, 3, 2 with their diagonal
}
