// The statistics of comparisons: values that can be checked by hand or in a table, then what verdicts are worth on
// noise.
#include <cmath>
#include <random>
#include <string_view>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>

#include "record/interleaving.hpp"
#include "record/selftest.hpp"
#include "record/verdict.hpp"

using namespace gnnbench;

namespace {

std::vector<double> times(std::mt19937_64& random, std::size_t n, double spread, double slowdown = 0) {
    std::lognormal_distribution<double> noise(0, spread);
    std::vector<double> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back((1 + slowdown) * noise(random));
    return all;
}

/// Times of a machine that now and then is busy with something else.
std::vector<double> bumpy(std::mt19937_64& random, std::size_t n) {
    std::vector<double> all = times(random, n, 0.03);
    for (double& t : all)
        if (random() % 10 == 0) t *= 1.5;
    return all;
}

}  // namespace

TEST_CASE("Wilcoxon's signed-rank p, exact, as in tables") {
    const auto p = [](std::vector<double> differences) { return signed_rank(differences).p; };
    CHECK(p({}) == 1);
    CHECK(p({0, 0}) == 1);
    CHECK(p({1}) == 1);
    // All of one sign: 2 of 2^n.
    CHECK(p({1, 2, 3, 4, 5, 6}) == Approx(2.0 / 64));
    CHECK(p({-1, -2, -3, -4, -5, -6, -7, -8}) == Approx(2.0 / 256));
    // W− = 3 of 8: (1 + 1 + 1 + 2) · 2 of 256.
    CHECK(p({1, 2, -3, 4, 5, 6, 7, 8}) == Approx(10.0 / 256));
    CHECK(p({1, -1, 2, -2}) == Approx(1));
    CHECK(signed_rank(std::vector<double>{1, 2, -3}).lean == 0);
    CHECK(signed_rank(std::vector<double>{1, 2, -4, 5}).lean > 0);
    CHECK(signed_rank(std::vector<double>{-1, -2, 4, -5}).lean < 0);
    // Past 50 values the normal approximation goes on where the exact one ends.
    std::vector<double> many;
    for (int i = 1; i <= 50; ++i) many.push_back(i % 3 ? i : -i);
    const double exact = p(many);
    many.push_back(1e-9);
    CHECK(p(many) == Approx(exact).epsilon(0.2));
}

TEST_CASE("trials are pairs if their sides took turns, whatever their numbers") {
    const auto pairs = [](std::string_view turns) {
        std::vector<std::int64_t> a, b;
        for (std::size_t i = 0; i < turns.size(); ++i) (turns[i] == 'A' ? a : b).push_back(std::int64_t(i));
        return interleaved_pairs(a, b);
    };
    using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
    CHECK(pairs("").empty());
    CHECK(pairs("AAAA").empty());
    CHECK(pairs("ABBABA") == Pairs{{0, 1}, {3, 2}, {5, 4}});
    // One side after the other: where they meet is no pair either.
    CHECK(pairs("AAAAAAAABBBBBBBB").empty());
    CHECK(pairs("AAAAAAAABABABBBBBB") == Pairs{{9, 8}, {11, 10}});
    CHECK(pairs("AAABBBAAABBB") == Pairs{{2, 3}, {6, 5}, {8, 9}});
    // A trial that is missing costs its pair, not those after it.
    CHECK(pairs("ABABABA") == Pairs{{0, 1}, {2, 3}, {4, 5}});
    CHECK(pairs("ABAABAB") == Pairs{{0, 1}, {3, 4}, {5, 6}});
    CHECK(pairs("AABBAABB") == Pairs{{1, 2}, {4, 3}, {5, 6}});
}

TEST_CASE("Holm's correction") {
    CHECK(holm({}).empty());
    const auto p = holm(std::vector<double>{0.04, 0.01, 0.03});
    CHECK(p[1] == Approx(0.03));
    CHECK(p[2] == Approx(0.06));
    CHECK(p[0] == Approx(0.06));
    CHECK(holm(std::vector<double>{0.9, 0.8})[0] == 1);
}

TEST_CASE("few trials give numbers and no verdict") {
    const Samples five{{1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}, true};
    const Comparison c = judge({&five, 1}, {})[0];
    CHECK(c.ratio == 2);
    CHECK(c.judgement == Judgement::unclear);
    CHECK(c.trials_wanted >= 6);
    const Samples none{{}, {1}, false};
    CHECK(judge({&none, 1}, {})[0].trials_wanted == 0);
}

TEST_CASE("plain cases are called what they are") {
    std::mt19937_64 random(1);
    const auto once = [&](double slowdown, bool paired) {
        const Samples s{times(random, 12, 0.01), times(random, 12, 0.01, slowdown), paired};
        return judge({&s, 1}, {})[0].judgement;
    };
    CHECK(once(0.2, true) == Judgement::slower);
    CHECK(once(-0.2, true) == Judgement::faster);
    CHECK(once(0, true) == Judgement::same);
    // What was not measured by turns may differ as it will.
    for (const double slowdown : {5.9, 0.2, -0.2, 0.0}) CHECK(once(slowdown, false) == Judgement::unclear);
    // Beyond chance, and within the margin: the same for all that matters.
    const Samples close{{1, 1.001, 1.002, 1.003, 1.004, 1.005}, {1.01, 1.011, 1.012, 1.013, 1.014, 1.015}, true};
    CHECK(judge({&close, 1}, {})[0].judgement == Judgement::same);
    // What slows both down is told from what slows one down by pairing.
    const Samples drifting{{1, 2, 3, 4, 5, 6, 7, 8}, {1.2, 2.4, 3.6, 4.8, 6, 7.2, 8.4, 9.6}, true};
    CHECK(judge({&drifting, 1}, {})[0].judgement != Judgement::faster);
    CHECK(judge({&drifting, 1}, {})[0].p == Approx(2.0 / 256));
}

TEST_CASE("there is no verdict where the medians differ one way and the pairs the other") {
    // Times drift tenfold within the sample. B is 1% slower in all pairs but two, which straddle the middle.
    Samples s{{1, 1.1, 1.2, 1.3, 1.4, 8, 8.5, 9, 9.5, 10, 10.5}, {}, true};
    for (const double t : s.a_s) s.b_s.push_back(1.01 * t);
    s.b_s[5] = s.b_s[6] = 1.5;
    const Comparison c = judge({&s, 1}, {.level = 0.5})[0];
    CHECK(c.ratio < 1);
    CHECK(c.judgement != Judgement::faster);
}

TEST_CASE("the ratio is the quotient of the medians shown beside it") {
    const Samples s{{20, 26, 25, 30}, {19, 21, 20, 24, 90}, false};
    const Comparison c = judge({&s, 1}, {})[0];
    CHECK(c.a_s == 25.5);
    CHECK(c.b_s == 21);
    CHECK(c.ratio == 21 / 25.5);
    CHECK(c.trials_wanted == 0);
}

// An eighth of the draws of `gnnbench selftest aa`, whose rates are finer.
TEST_CASE("identical sides are rarely called different, a slowdown is found with the trials asked for") {
    std::mt19937_64 random(7);
    for (const bool bumps : {false, true}) {
        INFO((bumps ? "bumpy" : "log-normal, 5%"));
        const auto pool = [&](std::int64_t n) {
            return bumps ? bumpy(random, static_cast<std::size_t>(n))
                         : times(random, static_cast<std::size_t>(n), 0.05);
        };
        std::vector<double> trials = pool(60);
        while (pool_for(trials, 0.1, {}) > static_cast<std::int64_t>(trials.size()))
            trials = pool(2 * pool_for(trials, 0.1, {}));
        const AaResult r = against_itself(trials, 0.1, 120, {});
        INFO("spread " << r.spread << ", trials a side " << r.trials);
        CHECK(r.false_rate <= 0.05);
        CHECK(r.found_rate >= 0.9);
    }
}

TEST_CASE(
    "times without a clear middle ask for more trials than their spread says, and are told apart with those") {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> anywhere(0.85, 1.15);
    std::vector<double> trials;
    for (int i = 0; i < 1000; ++i) trials.push_back(anywhere(random));
    Samples pairs;
    for (std::size_t i = 0; i + 1 < trials.size(); i += 2) {
        pairs.a_s.push_back(trials[i]);
        pairs.b_s.push_back(trials[i + 1]);
    }
    CHECK(spread_of_medians(pairs, {}) > 1.2 * spread_of(pairs));
    const AaResult r = against_itself(trials, 0.1, 150, {});
    INFO("spread " << r.spread << ", trials a side " << r.trials);
    CHECK(r.false_rate <= 0.05);
    CHECK(r.found_rate >= 0.9);
}

TEST_CASE("over many identical cells together no more is called different") {
    std::mt19937_64 random(3);
    int wrong = 0;
    for (int round = 0; round < 50; ++round) {
        std::vector<Samples> cells;
        for (int c = 0; c < 10; ++c) cells.push_back({times(random, 10, 0.05), times(random, 10, 0.05), true});
        bool any = false;
        for (const Comparison& c : judge(cells, {}))
            any |= c.judgement == Judgement::faster || c.judgement == Judgement::slower;
        wrong += any;
    }
    CHECK(wrong <= 8);  // 5% of 50, and what chance adds to that in all but one of a thousand runs
}

TEST_CASE("a pool that is too small says how large it should be") {
    const std::vector<double> pool = {1, 1.1, 0.9, 1.2, 1, 0.8, 1.1, 1};
    CHECK_THROWS_WITH(against_itself(pool, 0.1, 10, {}), Catch::Contains("expected a pool of"));
}
