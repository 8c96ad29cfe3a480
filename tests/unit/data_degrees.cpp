// Distributions of degrees, stubs and shapes, by hand where a hand can.
#include <algorithm>
#include <map>
#include <numeric>

#include <omp.h>

#include <gnnbench/error.hpp>

#include <data/content.hpp>
#include <data/degree_profile.hpp>
#include <data/edges.hpp>
#include <data/generators/affinity_blocks.hpp>
#include <data/generators/stubs.hpp>
#include <data/graph_shape.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

RawGraph undirected(std::int64_t vertices, std::vector<std::int32_t> source, std::vector<std::int32_t> target) {
    return build_pattern(vertices, std::move(source), std::move(target), false);
}

std::vector<std::int32_t> degrees_in(const RawGraph& g) {
    std::vector<std::int32_t> degrees;
    for (std::size_t v = 0; v + 1 < g.indptr.size(); ++v)
        degrees.push_back(static_cast<std::int32_t>(g.indptr[v + 1] - g.indptr[v]));
    return degrees;
}

}  // namespace

TEST_CASE("fitted distributions have the mean that is asked for") {
    for (double mean : {1.5, 13.7, 300.0}) {
        INFO("mean " << mean);
        CHECK(mean_degree(log_normal_degrees(mean, 1, 1000)) == Approx(mean).epsilon(1e-6));
        CHECK(mean_degree(log_normal_degrees(mean, 0.3, 1000)) == Approx(mean).epsilon(1e-6));
        CHECK(mean_degree(power_law_degrees(mean, 1000)) == Approx(mean).epsilon(1e-6));
    }
    const auto d = power_law_degrees(3, 50);
    CHECK(d[1].share / d[0].share == Approx(std::pow(d[3].share / d[1].share, 1.0)));  // a power of d
    CHECK_THAT(message_of<SpecError>([] { log_normal_degrees(50, 1, 20); }),
               says("average_degree is 50; with a largest degree of 20, 1 to 20 are allowed"));
    CHECK(power_law_degrees(1, 20).front().share == Approx(1));
}

TEST_CASE("clustering decays from its largest value to the mean that is asked for") {
    auto d = log_normal_degrees(10, 1, 500);
    set_clustering(d, 0.2, 0.9);
    CHECK(mean_clustering(d) == Approx(0.2).epsilon(1e-6));
    CHECK(d[0].clustering == 0);
    CHECK(d[1].clustering < 0.9);
    CHECK(d[2].clustering / d[1].clustering == Approx(d[3].clustering / d[2].clustering));
    set_clustering(d, 0, 0.9);
    CHECK(mean_clustering(d) < 1e-9);
    CHECK_THAT(message_of<SpecError>([&] { set_clustering(d, 0.9, 0.9); }), says("at most 0.8"));
}

TEST_CASE("a sequence has its distribution within one vertex, and an even sum") {
    const DegreeProfile profile{{1, 0.5, 0}, {2, 0.25, 0}, {7, 0.25, 0}};
    CHECK(degree_sequence(profile, 8) == std::vector<std::int32_t>{1, 1, 1, 1, 2, 2, 7, 7});
    CHECK(degree_sequence(profile, 4) == std::vector<std::int32_t>{1, 1, 2, 6});
    CHECK(degree_sequence({{0, 1, 0}}, 2) == std::vector<std::int32_t>{0, 0});
    const auto scaled = scaled_degrees(profile, 2, 10);
    CHECK(scaled == DegreeProfile{{2, 0.5, 0}, {4, 0.25, 0}, {10, 0.25, 0}});
    CHECK(scaled_degrees({{2, 0.5, 0.2}, {3, 0.5, 0.6}}, 1, 2) == DegreeProfile{{2, 1, 0.4}});
    CHECK(clustering_by_degree({{2, 0.5, 0.2}, {6, 0.5, 0.6}}) ==
          std::vector<double>{0.2, 0.2, 0.2, 0.2, 0.6, 0.6, 0.6});
}

TEST_CASE("stubs are shuffled: all there, every order as likely as another, on any number of threads") {
    const std::vector<std::int32_t> times{2, 0, 3, 1};
    auto sorted = shuffled_stubs(times, 1, 0);
    std::ranges::sort(sorted);
    CHECK(sorted == std::vector<std::int32_t>{0, 0, 2, 2, 2, 3});
    std::map<std::vector<std::int32_t>, int> orders;
    for (std::uint64_t seed = 0; seed < 6000; ++seed)
        ++orders[shuffled_stubs(std::vector<std::int32_t>{1, 1, 1}, seed, 0)];
    CHECK(orders.size() == 6);
    for (const auto& [order, count] : orders) CHECK(std::abs(count - 1000) < 130);  // 4.5 standard deviations
    const std::vector<std::int32_t> many(100000, 3);
    omp_set_num_threads(1);
    const auto one = shuffled_stubs(many, 5, 2);
    omp_set_num_threads(4);
    CHECK(one == shuffled_stubs(many, 5, 2));
    CHECK(one != shuffled_stubs(many, 5, 3));
    // Neighbours in the order are no nearer in id than chance has them.
    double distance = 0;
    for (std::size_t i = 1; i < one.size(); ++i) distance += std::abs(one[i] - one[i - 1]);
    CHECK(distance / static_cast<double>(one.size()) == Approx(100000.0 / 3).epsilon(0.02));
    omp_set_num_threads(omp_get_num_procs());
}

TEST_CASE("stubs are matched into a simple graph of exactly these degrees") {
    for (const auto& degrees : std::vector<std::vector<std::int32_t>>{{3, 3, 3, 3},     // only the complete graph
                                                                      {4, 4, 4, 4, 4},  // likewise
                                                                      {4, 1, 1, 1, 1},  // only the star
                                                                      {2, 2, 2, 2, 2, 2},     // cycles
                                                                      {5, 5, 4, 3, 3, 2, 2},  // dense
                                                                      {0, 1, 1, 0}}) {
        for (std::uint64_t seed = 1; seed < 40; ++seed) {
            INFO(degrees.size() << " vertices, first degree " << degrees[0] << ", seed " << seed);
            const auto g = match_stubs({.given = {}, .degrees = degrees, .seed = seed});
            CHECK(degrees_in(g) == degrees);
            CHECK(count_self_loops(g.view()) == 0);
            CHECK(measure_symmetry(g.view()).pattern);
        }
    }
    // No simple graph has these: what is possible is made, and it ends.
    CHECK(degrees_in(match_stubs({.given = {}, .degrees = std::vector<std::int32_t>{4, 2}, .seed = 1})) ==
          std::vector<std::int32_t>{1, 1});
}

TEST_CASE("edges that are given stay where they are inside a group") {
    const std::vector<std::int32_t> degrees{3, 3, 3, 3, 3, 3, 1, 1}, group{0, 0, 0, 1, 1, 1, -1, -1};
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        const auto g = match_stubs(
            {.given = {{0, 0, 1, 3, 3, 4}, {1, 2, 2, 4, 5, 5}}, .degrees = degrees, .group = group, .seed = seed});
        INFO("seed " << seed);
        CHECK(degrees_in(g) == degrees);
        const auto row = [&](std::size_t v) {
            return std::vector<std::int32_t>(g.indices.begin() + g.indptr[v], g.indices.begin() + g.indptr[v + 1]);
        };
        for (std::size_t v = 0; v < 6; ++v)
            for (std::int32_t u = v < 3 ? 0 : 3; u < (v < 3 ? 3 : 6); ++u)
                if (static_cast<std::size_t>(u) != v) CHECK(std::ranges::count(row(v), u) == 1);
    }
}

TEST_CASE("affinity blocks: d + 1 vertices of degree d, the cube root of their clustering") {
    const std::vector<std::int32_t> degrees{0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 5, 5};
    const std::vector<double> clustering(6, 0.125);
    const auto blocks = affinity_blocks(degrees, clustering);
    CHECK(blocks.first == std::vector<std::int64_t>{3, 6, 10, 12});
    CHECK(block_of_position(blocks, 12) == std::vector<std::int32_t>{-1, -1, -1, 0, 0, 0, 1, 1, 1, 1, 2, 2});
    // Many vertices of one degree, hardly a triangle between blocks.
    const auto even = affinity_blocks(std::vector<std::int32_t>(110000, 10), std::vector<double>(11, 0.343));
    CHECK(even.count() == 10000);
    CHECK(even.connectivity.front() == Approx(0.7).margin(0.001));
    const auto drawn = draw_blocks(even, 3);
    CHECK(static_cast<double>(drawn.source.size()) == Approx(0.7 * 55 * 10000).epsilon(0.01));
    for (std::size_t e = 0; e < drawn.source.size(); ++e) CHECK(drawn.source[e] / 11 == drawn.target[e] / 11);
}

TEST_CASE("the shape of small graphs") {
    // A triangle with a tail, and a vertex alone.
    const auto g = undirected(5, {0, 0, 1, 2}, {1, 2, 2, 3});
    const auto shape = measure_shape(g.view(), 1);
    CHECK(shape.histogram == std::vector<std::int64_t>{1, 1, 2, 1});
    CHECK(shape.clustering[usize(degree_bin(2))] == 1);
    CHECK(shape.clustering[usize(degree_bin(3))] == Approx(1.0 / 3));
    CHECK(shape.components.count == 2);
    CHECK(shape.components.largest == 4);
    const std::vector<std::int32_t> wanted{1, 1, 2, 2, 2};
    const auto report = compare_shape(wanted, std::vector<double>{0, 0, 0.8}, shape);
    CHECK(report.wanted_mean_degree == Approx(1.6));
    CHECK(report.reached_mean_degree == Approx(1.6));
    CHECK(report.degree_distance == Approx(0.2));
    CHECK(report.wanted_clustering == Approx(0.48));
    CHECK(report.reached_clustering == Approx((2 + 1.0 / 3) / 5));
    CHECK(report.clustering_error == Approx(0.25));
    CHECK(measure_shape(undirected(1, {}, {}).view(), 1).components.count == 1);
}

TEST_CASE("clustering of random pairs is near that of all pairs") {
    // Two complete graphs of 200 that share a vertex: its neighbours are adjacent in 2·C(199,2) of C(398,2) pairs.
    std::vector<std::int32_t> source, target;
    for (std::int32_t block : {0, 199})
        for (std::int32_t u = 0; u < 200; ++u)
            for (std::int32_t v = 0; v < u; ++v) source.push_back(block + u), target.push_back(block + v);
    const auto shape = measure_shape(undirected(399, source, target).view(), 1);
    CHECK(shape.clustering[usize(degree_bin(199))] == 1);
    CHECK(shape.clustering[usize(degree_bin(398))] == Approx(2 * 199 * 198 / (398.0 * 397)).margin(0.03));
}
