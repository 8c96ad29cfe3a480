// How long a rank that is declared slow is busy after a step.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include <gnnbench/busy_time.hpp>
#include <gnnbench/process_group.hpp>
#include <gnnbench/slowdown.hpp>

using gnnbench::Slowdown;

TEST_CASE("a slow rank takes its factor less one times what its step took, another nothing") {
    const Slowdown s{.factor = {{3, 2.5}}, .jitter = 0, .seed = 7};
    for (const std::int64_t step : {0, 1, 99}) {
        CHECK(s.pause_s(3, step, 0.2) == Approx(0.3));
        CHECK(s.pause_s(3, step, 0) == 0);
        CHECK(s.pause_s(2, step, 0.2) == 0);
    }
    CHECK(s.declared());
    CHECK(Slowdown{.factor = {}, .jitter = 0.1}.declared());
    CHECK_FALSE(Slowdown{.factor = {}, .jitter = 0, .seed = 7}.declared());
}

TEST_CASE("a slow rank keeps its core busy, so that a loaded machine slows it as it slows its steps") {
    const Slowdown s{.factor = {{0, 1.5}}, .jitter = 0, .seed = 7};
    gnnbench::BusyTime busy;
    busy.start();
    s.end_step(gnnbench::ProcessGroup::alone(), 0, 0.02);
    CHECK(busy.seconds() >= 0.01);
    busy.start();
    Slowdown{.factor = {{1, 1.5}}, .jitter = 0, .seed = 7}.end_step(gnnbench::ProcessGroup::alone(), 0, 0.02);
    CHECK(busy.seconds() < 0.01);
}

TEST_CASE("a spread is the deviation of the logarithm of a step's time, a function of seed, rank and step") {
    const Slowdown s{.factor = {{0, 3}}, .jitter = 0, .spread = 0.25, .seed = 7};
    double sum = 0, squares = 0, of_both = 0;
    constexpr int steps = 4000;
    for (int step = 0; step < steps; ++step) {
        const double slow = std::log(s.times(0, step) / 3), other = std::log(s.times(1, step));
        CHECK(s.times(0, step) == s.times(0, step));
        sum += slow;
        squares += slow * slow;
        of_both += slow * other;
    }
    CHECK(std::abs(sum / steps) < 0.02);
    CHECK(std::sqrt(squares / steps) == Approx(0.25).epsilon(0.05));
    CHECK(std::abs(of_both / steps) < 0.005);
    CHECK(s.pause_s(0, 1, 2) == Approx(2 * (s.times(0, 1) - 1)));
    CHECK(Slowdown{.factor = {}, .jitter = 0, .spread = 0.1}.declared());
}

TEST_CASE("a drawn pace lasts for as long as it is declared to, else for a step") {
    const Slowdown each{.factor = {}, .spread = 0.5}, lasting{.factor = {}, .spread = 0.5, .lasts_s = 0.25};
    CHECK(each.draw_at(7, 100) == 7);
    for (const std::int64_t step : {0, 7}) {
        CHECK(lasting.draw_at(step, 0) == 0);
        CHECK(lasting.draw_at(step, 0.2499) == 0);
        CHECK(lasting.draw_at(step, 0.25) == 1);
        CHECK(lasting.draw_at(step, 100) == 400);
    }
}

TEST_CASE("jitter stays in its range, reaches its ends, and is a function of seed, rank and step") {
    const Slowdown s{.factor = {{0, 3}}, .jitter = 0.2, .seed = 7};
    Slowdown other = s;
    other.seed = 8;
    double low = 1e9, high = -1e9, sum = 0, unnamed_low = 1e9, unnamed_high = -1e9;
    int repeated = 0, same_elsewhere = 0;
    constexpr int steps = 2000;
    for (int i = 0; i < steps; ++i) {
        const double t = s.pause_s(0, i, 1), unnamed = s.pause_s(1, i, 1);
        low = std::min(low, t), high = std::max(high, t), sum += t;
        unnamed_low = std::min(unnamed_low, unnamed), unnamed_high = std::max(unnamed_high, unnamed);
        repeated += t == s.pause_s(0, i, 1);
        same_elsewhere += t == other.pause_s(0, i, 1) || t == s.pause_s(0, i + steps, 1);
    }
    // 3 · (1 ± 0.2) − 1; a rank without a factor has 1 · (1 ± 0.2) − 1, and never less than 0.
    CHECK(low >= 1.4);
    CHECK(low < 1.41);
    CHECK(high <= 2.6);
    CHECK(high > 2.59);
    CHECK(sum / steps == Approx(2).margin(0.04));  // five standard deviations of the mean
    CHECK(unnamed_low == 0);
    CHECK(unnamed_high > 0.19);
    CHECK(unnamed_high <= 0.2);
    CHECK(repeated == steps);
    CHECK(same_elsewhere < 5);
}
