#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "contract/graphs.hpp"

using namespace gnnbench;

TEST_CASE("an index map refuses a part that is not there") {
    CHECK_THROWS_WITH(IndexMap(Partition{.parts = 2, .part_of = {0, 2}, .column_part_of = {}}),
                      "a partition of 2 parts holds part 2");
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

TEST_CASE("partition quality by hand: a path 0-1-2-3 cut in the middle") {
    const auto g = graphs::from_entries("path", 4, graphs::both_ways({{0, 1}, {1, 2}, {2, 3}}));
    const auto q = measure_quality(g.view(), {.parts = 2, .part_of = {0, 0, 1, 1}, .column_part_of = {}});
    CHECK(q.edge_cut == 2);                // 1 ← 2 and 2 ← 1
    CHECK(q.connectivity_minus_one == 2);  // columns 1 and 2 are needed once elsewhere
    CHECK(q.vertex_imbalance == Approx(1));
    CHECK(q.nonzero_imbalance == Approx(1));
    const auto lopsided = measure_quality(g.view(), {.parts = 2, .part_of = {0, 0, 0, 1}, .column_part_of = {}});
    CHECK(lopsided.vertex_imbalance == Approx(1.5));
    CHECK(lopsided.nonzero_imbalance == Approx(5.0 * 2 / 6));
}
