#include <catch2/catch.hpp>

#include <vector>

#include <gnnbench/error.hpp>

#include "record/statistics.hpp"

using namespace gnnbench;

TEST_CASE("median") {
    CHECK_THROWS_AS(median(std::vector<double>{}), LogicError);
    CHECK(median(std::vector<double>{3}) == 3);
    CHECK(median(std::vector<double>{9, 1, 4}) == 4);
    CHECK(median(std::vector<double>{8, 2, 4, 100}) == 6);
}

TEST_CASE("one trial has no spread, two have a range") {
    const Estimate one = estimate(std::vector<double>{5});
    CHECK(one.method == SpreadMethod::none);
    CHECK(one.half_width() == 0);
    const Estimate two = estimate(std::vector<double>{7, 5});
    CHECK(two.method == SpreadMethod::range);
    CHECK(two.median == 6);
    CHECK(two.low == 5);
    CHECK(two.high == 7);
}

TEST_CASE("three to five trials: Student's t, by hand") {
    // 1, 2, 3: mean 2, s = 1, standard error 1/sqrt(3); t(2) = 4.3027 -> half width 2.4841
    const Estimate three = estimate(std::vector<double>{3, 1, 2});
    CHECK(three.method == SpreadMethod::student_t);
    CHECK(three.median == 2);
    CHECK(three.half_width() == Approx(2.48414).epsilon(1e-5));
    // 2, 4, 4, 6: mean 4, s^2 = 8/3, standard error sqrt(2/3); t(3) = 3.18245 -> 2.59846
    CHECK(estimate(std::vector<double>{2, 4, 4, 6}).half_width() == Approx(2.59846).epsilon(1e-5));
    // 1..5: s^2 = 2.5, standard error sqrt(0.5); t(4) = 2.77645 -> 1.96324
    CHECK(estimate(std::vector<double>{1, 2, 3, 4, 5}).half_width() == Approx(1.96324).epsilon(1e-5));
}

TEST_CASE("from six trials: order statistics that cover the median with at least 95%") {
    const auto upto = [](int n) {
        std::vector<double> v;
        for (int i = n; i >= 1; --i) v.push_back(i);
        return estimate(v);
    };
    // Tabulated ranks of the 95% sign interval: n = 6..8 -> (1, n), 9..11 -> (2, n-1), 12 -> (3, 10), 20 -> (6,
    // 15).
    CHECK(upto(6).low == 1);
    CHECK(upto(6).high == 6);
    CHECK(upto(8).low == 1);
    CHECK(upto(9).low == 2);
    CHECK(upto(9).high == 8);
    CHECK(upto(11).low == 2);
    CHECK(upto(12).low == 3);
    CHECK(upto(12).high == 10);
    CHECK(upto(20).low == 6);
    CHECK(upto(20).high == 15);
    CHECK(upto(20).median == 10.5);
    // Beyond where 2^-n is a double, still about n/2 -+ sqrt(n).
    CHECK(upto(2000).low == Approx(1000 - 0.98 * 44.72).margin(2));
}
