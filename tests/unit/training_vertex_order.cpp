#include <numeric>

#include <catch2/catch.hpp>

#include <gnnbench/training/vertex_order.hpp>

#include "contract/graphs.hpp"

using namespace gnnbench;

namespace {

IndexMap one_part(std::int64_t n) {
    return IndexMap({.parts = 1, .part_of = std::vector<Part>(static_cast<std::size_t>(n)), .column_part_of = {}});
}

bool is_permutation_of_positions(std::vector<std::int32_t> p) {
    std::sort(p.begin(), p.end());
    std::vector<std::int32_t> all(p.size());
    std::iota(all.begin(), all.end(), 0);
    return p == all;
}

}  // namespace

TEST_CASE("block_of finds the even block of every position, also where blocks are empty") {
    for (const std::int64_t n : {0, 1, 2, 7, 12, 40})
        for (const int blocks : {1, 2, 3, 7, 12, 13})
            for (int b = 0; b < blocks; ++b)
                for (std::int64_t i = 0; i < block_size(n, blocks, b); ++i) {
                    INFO(n << " in " << blocks << ": position " << i << " of block " << b);
                    CHECK(block_of(n, blocks, block_begin(n, blocks, b) + i) == b);
                }
}

TEST_CASE("without a permutation, vertices keep the partition's order") {
    const IndexMap given({.parts = 2, .part_of = {1, 0, 1, 0, 0}, .column_part_of = {}});
    const VertexOrders o = permuted_orders(given, Permutation::original, 3);
    CHECK(o.rows == std::vector<std::int32_t>{3, 0, 4, 1, 2});
    CHECK(o.columns == o.rows);
    // Positions {0, 1, 2} and {3, 4}: the blocks are the parts here.
    const IndexMap blocks = even_index_map(o.rows, 2);
    CHECK(blocks.part_of(GlobalId{0}) == 1);
    CHECK(blocks.part_of(GlobalId{4}) == 0);
    CHECK(blocks.size(0) == 3);
}

TEST_CASE("inside a block vertices lie as they were permuted") {
    const std::vector<std::int32_t> position = {4, 0, 3, 1, 2};
    const IndexMap blocks = even_index_map(position, 2);
    for (std::size_t v = 0; v < position.size(); ++v)
        CHECK(blocks.position(GlobalId{static_cast<std::int64_t>(v)}) == position[v]);
    const EvenOrders orders(one_part(50), Permutation::separate, 3);
    const VertexOrders permuted = permuted_orders(one_part(50), Permutation::separate, 3);
    for (std::int64_t v = 0; v < 50; ++v) {
        CHECK(orders.rows(4).position(GlobalId{v}) == permuted.rows[static_cast<std::size_t>(v)]);
        CHECK(orders.columns(1).position(GlobalId{v}) == permuted.columns[static_cast<std::size_t>(v)]);
    }
}

TEST_CASE("single permutes rows and columns alike, separate does not; the seed decides") {
    const IndexMap given = one_part(50);
    const VertexOrders single = permuted_orders(given, Permutation::single, 3);
    const VertexOrders separate = permuted_orders(given, Permutation::separate, 3);
    CHECK(is_permutation_of_positions(single.rows));
    CHECK(is_permutation_of_positions(separate.columns));
    CHECK(single.rows == single.columns);
    CHECK(separate.rows != separate.columns);
    CHECK(separate.rows == permuted_orders(given, Permutation::separate, 3).rows);
    CHECK(separate.rows != permuted_orders(given, Permutation::separate, 4).rows);
}

TEST_CASE("nonzeros per shard, counted by hand") {
    // 0 → 1 → 2 → 3 → 0 with self-loops: rows {0, 1}, {2, 3}, columns likewise.
    const auto graph = graphs::directed_cycle(4);
    const Adjacency a(graph.view(), {});
    const ShardBalance b = shard_balance(a, permuted_orders(one_part(4), Permutation::original, 0), 2, 2);
    CHECK(b.nonzeros == std::vector<std::int64_t>{3, 1, 1, 3});
    CHECK(b.largest == 3);
    CHECK(b.mean == 2);
    CHECK(b.max_over_mean() == 1.5);
}

TEST_CASE("Plexus, table 5.1: original, single and double permutation of a road-like graph in 8 x 8 shards") {
    const auto graph = graphs::grid(300);
    const Adjacency a(graph.view(), {});
    const auto ratio = [&](Permutation p) {
        return shard_balance(a, permuted_orders(one_part(a.vertices()), p, 1), 8, 8).max_over_mean();
    };
    // Nearly all nonzeros lie in the 8 diagonal shards of 64: the paper has 7.70.
    CHECK(ratio(Permutation::original) > 7.5);
    // A single permutation leaves the diagonal where it is: 1 + 7 n / nonzeros. For europe_osm that is
    // 1 + 7 · 50,912,018 / 159,021,338 = 3.24, the paper's value.
    const double n = static_cast<double>(a.vertices()), nonzeros = static_cast<double>(a.nonzeros());
    CHECK(ratio(Permutation::single) == Approx(1 + 7 * n / nonzeros).epsilon(0.03));
    // Two permutations scatter everything: 1.001 at europe_osm's size, noise of a few percent at this one.
    CHECK(ratio(Permutation::separate) < 1.05);
}
