#include <catch2/catch.hpp>

#include <cmath>
#include <random>
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

TEST_CASE("one trial has no interval") {
    const Estimate one = estimate(std::vector<double>{5});
    CHECK(one.method == SpreadMethod::none);
    CHECK_FALSE(one.has_interval());
    CHECK(one.low == 5);
    CHECK(one.high == 5);
}

TEST_CASE("two to five trials: Student's t of logarithms, by hand") {
    // ln 1, ln e: mean 0.5, s = 0.70711, standard error 0.5; t(1) = 12.7062 -> 0.5 -+ 6.3531
    const Estimate two = estimate(std::vector<double>{std::exp(1.0), 1});
    CHECK(two.method == SpreadMethod::log_student_t);
    CHECK(std::log(two.low) == Approx(0.5 - 6.35310).epsilon(1e-5));
    CHECK(std::log(two.high) == Approx(0.5 + 6.35310).epsilon(1e-5));
    // 1, e, e^2: logarithms 0, 1, 2: mean 1, s = 1, standard error 1/sqrt(3); t(2) = 4.30265 -> 1 -+ 2.48414
    const Estimate three = estimate(std::vector<double>{std::exp(2.0), 1, std::exp(1.0)});
    CHECK(three.median == Approx(std::exp(1.0)));
    CHECK(std::log(three.low) == Approx(1 - 2.48414).epsilon(1e-5));
    CHECK(std::log(three.high) == Approx(1 + 2.48414).epsilon(1e-5));
    // 0 1 2 3 4: s^2 = 2.5, standard error sqrt(0.5); t(4) = 2.77645 -> 2 -+ 1.96324
    std::vector<double> five;
    for (int i = 0; i < 5; ++i) five.push_back(std::exp(i));
    CHECK(std::log(estimate(five).high) == Approx(2 + 1.96324).epsilon(1e-5));
}

TEST_CASE("an interval is around its median, and of times never crosses zero") {
    // The case that was shown as 21.8 +-86.7.
    const Estimate skewed = estimate(std::vector<double>{21.8, 4.6, 72.3});
    CHECK(skewed.median == 21.8);
    CHECK(skewed.low > 0);
    CHECK(skewed.low < 4.6);
    CHECK(skewed.high > 72.3);
    for (const auto& values :
         {std::vector<double>{1, 1, 1000}, {1, 1000, 1000, 1000}, {1, 1, 1, 1, 1e6}, {3, 3}}) {
        const Estimate e = estimate(values);
        CHECK(e.low <= e.median);
        CHECK(e.high >= e.median);
    }
    CHECK_FALSE(estimate(std::vector<double>{0, 1, 2}).has_interval());
    const Estimate same = estimate(std::vector<double>{7e9, 7e9, 7e9});
    CHECK(same.low == 7e9);
    CHECK(same.high == 7e9);
}

TEST_CASE("the interval of few trials covers the median of log-normal times as often as it says") {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> times(0, 0.5);  // its median is 1
    for (const int n : {2, 3, 5, 8}) {
        int covered = 0;
        constexpr int draws = 4000;
        for (int d = 0; d < draws; ++d) {
            std::vector<double> v;
            for (int i = 0; i < n; ++i) v.push_back(times(random));
            const Estimate e = estimate(v);
            covered += e.low <= 1 && 1 <= e.high;
        }
        CAPTURE(n, covered);
        CHECK(covered > draws * 0.94);  // three standard deviations below 95% are 93.97%
    }
}

TEST_CASE("less is sure only where intervals do not overlap") {
    const auto of = [](std::vector<double> v) { return estimate(v); };
    CHECK(of({1, 1.01, 0.99}).surely_below(of({2, 2.01, 1.99})));
    CHECK_FALSE(of({2, 2.01, 1.99}).surely_below(of({1, 1.01, 0.99})));
    CHECK_FALSE(of({1, 1.5, 0.7}).surely_below(of({1.1, 1.6, 0.8})));
    CHECK_FALSE(of({1}).surely_below(of({2, 2.01, 1.99})));
    CHECK_FALSE(of({1, 1.01, 0.99}).surely_below(of({100})));
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
