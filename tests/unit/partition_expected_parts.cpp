// What {expect: …} has of partitions that were measured: shares, and how they grow.
#include <cmath>

#include <catch2/catch.hpp>

#include "contract/graphs.hpp"
#include "partition/expected_parts.hpp"

using namespace gnnbench;

namespace {

MeasuredParts powers(std::int64_t parts) {
    const auto p = static_cast<double>(parts);
    return {parts,
            {.inside = 1 - 0.01 * std::pow(p, 0.5),
             .halo = 0.1 * std::pow(p, 0.75),
             .imbalance = {.vertices = 1.03, .nonzeros = std::pow(p, 0.25), .halo = 2 * std::pow(p, -0.1)}}};
}

}  // namespace

TEST_CASE("the shares of a partition, by hand") {
    // A path of six vertices in parts {0, 1, 2, 3} and {4, 5}, and a loop: one edge is cut, both ways.
    const auto g = graphs::from_entries(
        "path", 6, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 4}, {4, 3}, {4, 5}, {5, 4}, {2, 2}});
    const Partition parts{.parts = 2, .part_of = {0, 0, 0, 0, 1, 1}, .column_part_of = {}};
    const PartShares s = measured_shares(measure_cost(g.view(), parts), 6, 10);
    CHECK(s.inside == Approx(0.8));
    CHECK(*s.halo == Approx(2.0 / 6));
    CHECK(s.imbalance.vertices == Approx(4.0 / 3));
    CHECK(s.imbalance.nonzeros == Approx(11.0 / 8));  // with the diagonal 11 and 5
    CHECK(s.imbalance.halo == Approx(1));
    // One way, row 3 needs vertex 4, and column 4 is needed by row 3: one row of each product.
    const auto directed = graphs::from_entries("directed", 6, {{3, 4}, {0, 4}});
    CHECK(*measured_shares(measure_cost(directed.view(), parts), 6, 2).halo == Approx((1 + 2) / 2.0 / 6));
}

TEST_CASE("a growth is the slope of the logarithms by least squares") {
    using Points = std::vector<std::pair<double, double>>;
    CHECK(growth_of(Points{{2, 3}, {4, 6}, {8, 12}}).value() == Approx(1));
    // By hand, in powers of two: x 1, 2, 3; y 0, 2, 1; the slope is ((−1)(−1) + 0·1 + 1·0) ÷ 2.
    CHECK(growth_of(Points{{2, 1}, {4, 4}, {8, 2}}).value() == Approx(0.5));
    CHECK(growth_of(Points{{2, 1}, {4, 0}, {8, 4}}).value() == Approx(1));  // nothing is cut at 4: no logarithm
    CHECK_FALSE(growth_of(Points{{4, 3}}));
    CHECK_FALSE(growth_of(Points{{4, 3}, {4, 5}}));
    CHECK_FALSE(growth_of(Points{}));
}

TEST_CASE("fitted parts are those of the largest number, with the powers that others follow") {
    const std::vector<MeasuredParts> measured = {powers(4), powers(64), powers(16)};
    const auto fitted = fitted_parts(measured);
    CHECK(fitted.parts == 64);
    CHECK(fitted.inside == measured[1].shares.inside);
    CHECK(fitted.imbalance == measured[1].shares.imbalance);
    CHECK(fitted.cut_growth == Approx(0.5));
    CHECK(fitted.halo_growth == Approx(0.75));
    CHECK(fitted.imbalance_growth.vertices == Approx(0).margin(1e-12));
    CHECK(fitted.imbalance_growth.nonzeros == Approx(0.25));
    CHECK(fitted.imbalance_growth.halo == Approx(-0.1));
    for (const MeasuredParts& m : measured) {
        const PartShares there = shares_at(fitted, m.parts);
        CHECK(there.inside == Approx(m.shares.inside));
        CHECK(*there.halo == Approx(*m.shares.halo));
        CHECK(there.imbalance.nonzeros == Approx(m.shares.imbalance.nonzeros));
    }
    const auto keys = expectation_keys(fitted);
    CHECK(keys["locality"] == 0.92);
    CHECK(keys["nonzero_imbalance_growth"] == 0.25);
    CHECK_FALSE(keys.contains("vertex_imbalance_growth"));
}

TEST_CASE("of one number of parts no growth is known, and growths stay in the range of their keys") {
    const auto one = fitted_parts(std::vector{powers(16)});
    const auto keys = expectation_keys(one);
    for (const auto& [key, value] : keys.items()) CHECK(key.find("growth") == std::string::npos);
    CHECK(keys["locality_parts"] == 16);
    // Two communities: of two parts hardly anything is cut.
    const std::vector<MeasuredParts> steep = {{2, {.inside = 0.9999, .halo = 0.0001}},
                                              {4, {.inside = 0.5, .halo = 0.4}},
                                              {8, {.inside = 0.6, .halo = 0.3}}};
    CHECK(fitted_parts(steep).cut_growth == 2);
    CHECK(fitted_parts(std::vector{steep[1], steep[2]}).halo_growth == 0);
    // Rounded down, a halo of as many rows as entries leave stays possible.
    const ExpectedDataset::Partitioned all_rows{.inside = 2.0 / 3, .halo = (1 - 2.0 / 3) * 7, .parts = 3};
    const auto rounded = expectation_keys(all_rows);
    CHECK(rounded["halo"].get<double>() <= (1 - rounded["locality"].get<double>()) * 7);
}
