// Batches that are drawn anew for each item.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include <gnnbench/batches/sampled.hpp>
#include <gnnbench/usize.hpp>

using namespace gnnbench;

namespace {

/// A ring with chords: vertex v aggregates from v + 1 … v + degree, modulo n.
struct Ring {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    Ring(std::int32_t n, std::int32_t degree) {
        for (std::int32_t v = 0; v < n; ++v) {
            std::vector<std::int32_t> row;
            for (std::int32_t k = 1; k <= degree; ++k) row.push_back((v + k) % n);
            std::ranges::sort(row);
            indices.insert(indices.end(), row.begin(), row.end());
            indptr.push_back(std::ssize(indices));
        }
    }
    GraphView view() const { return {indptr, indices, {}, false}; }
};

std::vector<std::int64_t> plain(const std::vector<GlobalId>& ids) {
    std::vector<std::int64_t> out;
    for (const GlobalId v : ids) out.push_back(value(v));
    return out;
}

std::vector<GlobalId> first_ids(std::int64_t n) {
    std::vector<GlobalId> all;
    for (std::int64_t v = 0; v < n; ++v) all.push_back(GlobalId{v});
    return all;
}

bool ascends(const std::vector<GlobalId>& ids) {
    return std::ranges::adjacent_find(ids, [](GlobalId a, GlobalId b) { return value(a) >= value(b); }) ==
           ids.end();
}

}  // namespace

TEST_CASE("sampled vertices: so many, ascending, the same for an item whoever draws it") {
    const VertexSamples samples(100, {.batch_vertices = 30, .seed = 5}),
        again(100, {.batch_vertices = 30, .seed = 5}), other(100, {.batch_vertices = 30, .seed = 6});
    CHECK(samples.batches() == 4);
    CHECK(samples.most_vertices() == 30);
    CHECK_FALSE(samples.seeds(0).has_value());
    for (const std::int64_t item : {7, 0, 3}) {
        const auto drawn = samples.vertices(item);
        CHECK(drawn.size() == 30);
        CHECK(ascends(drawn));
        CHECK(value(drawn.front()) >= 0);
        CHECK(value(drawn.back()) < 100);
        CHECK(drawn == again.vertices(item));
        CHECK(drawn != other.vertices(item));
    }
    CHECK(samples.vertices(0) != samples.vertices(1));
    // Pinned: what is drawn must not depend on machine or library.
    CHECK(plain(VertexSamples(10, {.batch_vertices = 4, .seed = 1}).vertices(2)) ==
          std::vector<std::int64_t>{3, 5, 6, 7});
}

TEST_CASE("sampled vertices: a batch larger than the graph is the graph") {
    const VertexSamples all(5, {.batch_vertices = 1000, .seed = 1}), none(0, {.batch_vertices = 3, .seed = 1});
    CHECK(all.batches() == 1);
    CHECK(all.vertices(9) == first_ids(5));
    CHECK(none.batches() == 1);
    CHECK(none.vertices(0).empty());
}

TEST_CASE("sampled vertices: each vertex, and each pair, is as likely as any other") {
    constexpr std::int64_t n = 12, k = 4, draws = 30'000;
    const VertexSamples samples(n, {.batch_vertices = k, .seed = 3});
    std::vector<std::int64_t> of_vertex(n), of_pair(n * n);
    for (std::int64_t item = 0; item < draws; ++item) {
        const auto drawn = samples.vertices(item);
        for (const GlobalId a : drawn) {
            ++of_vertex[usize(value(a))];
            for (const GlobalId b : drawn) ++of_pair[usize(value(a) * n + value(b))];
        }
    }
    // Within 5 standard deviations of a binomial.
    const auto near = [&](std::int64_t count, double p) {
        return std::abs(static_cast<double>(count) - p * draws) < 5 * std::sqrt(draws * p * (1 - p));
    };
    for (std::int64_t a = 0; a < n; ++a) {
        INFO("vertex " << a);
        CHECK(near(of_vertex[usize(a)], 1.0 * k / n));
        for (std::int64_t b = 0; b < a; ++b)
            CHECK(near(of_pair[usize(a * n + b)], 1.0 * k * (k - 1) / (n * (n - 1))));
    }
}

TEST_CASE("sampled neighbours: an epoch has each seed once, another in another order") {
    const Ring ring(40, 5);
    std::vector<GlobalId> seeds;
    for (std::int64_t v = 0; v < 40; v += 3) seeds.push_back(GlobalId{v});
    const NeighbourSamples samples(ring.view(), seeds, {.batch_seeds = 4, .fan_out = 2, .hops = 2, .seed = 9});
    REQUIRE(samples.batches() == 4);
    std::vector<std::vector<GlobalId>> orders;
    for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
        std::vector<GlobalId> order;
        for (std::int64_t b = 0; b < 4; ++b) {
            const auto of_item = *samples.seeds(epoch * 4 + b);
            CHECK(of_item.size() == (b < 3 ? 4u : 2u));
            CHECK(ascends(of_item));
            order.insert(order.end(), of_item.begin(), of_item.end());
        }
        orders.push_back(order);
        std::ranges::sort(order);
        CHECK(order == seeds);
    }
    CHECK(orders[0] != orders[1]);
}

TEST_CASE("sampled neighbours: a batch is its seeds and what their rows reach") {
    const Ring ring(60, 9);
    const NeighbourSamples samples(ring.view(), first_ids(60),
                                   {.batch_seeds = 1, .fan_out = 3, .hops = 2, .seed = 4});
    CHECK(samples.most_vertices() == 1 + 3 + 9);
    std::set<std::int64_t> steps_seen;
    for (std::int64_t item = 0; item < 60; ++item) {
        const auto batch = samples.vertices(item);
        const auto seed = value(samples.seeds(item)->front());
        CHECK(ascends(batch));
        CHECK(std::ranges::binary_search(batch, GlobalId{seed}));
        CHECK(std::ssize(batch) >= 1 + 3);  // three of the seed's row at least
        CHECK(std::ssize(batch) <= 13);
        int one_hop = 0;
        for (const GlobalId v : batch) {
            const std::int64_t step = (value(v) - seed + 60) % 60;
            CHECK(step <= 18);  // two rows away
            one_hop += step >= 1 && step <= 9 ? 1 : 0;
            steps_seen.insert(step);
        }
        CHECK(one_hop >= 3);
        CHECK(batch == samples.vertices(item));
    }
    CHECK(steps_seen.size() == 19);  // no neighbour is out of reach
    // Rows shorter than the fan-out are taken whole.
    const NeighbourSamples whole(ring.view(), first_ids(60),
                                 {.batch_seeds = 1, .fan_out = 9, .hops = 1, .seed = 4});
    CHECK(whole.vertices(0).size() == 10);
    CHECK(
        plain(NeighbourSamples(ring.view(), first_ids(60), {.batch_seeds = 2, .fan_out = 2, .hops = 1, .seed = 1})
                  .vertices(3)) == std::vector<std::int64_t>{32, 34, 37, 43, 44, 45});
}

TEST_CASE("sampled neighbours: without seeds a batch is empty; bounds do not overflow") {
    const Ring ring(8, 2);
    const NeighbourSamples none(ring.view(), {}, {.batch_seeds = 2, .fan_out = 2, .hops = 2, .seed = 1});
    CHECK(none.batches() == 1);
    CHECK(none.vertices(0).empty());
    CHECK(none.seeds(0)->empty());
    const NeighbourSamples deep(ring.view(), first_ids(8),
                                {.batch_seeds = 8, .fan_out = 1024, .hops = 40, .seed = 1});
    CHECK(deep.most_vertices() == 8);
    CHECK(deep.vertices(0) == first_ids(8));
}
