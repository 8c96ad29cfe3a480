#include <cmath>
#include <set>

#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/random.hpp>

using namespace gnnbench;

TEST_CASE("philox is the published one: the known answer for counter and key zero") {
    // Random123's kat_vectors, philox4x32-10, all-zero input. Draw 0 leaves the key's high word as it is.
    const auto r = philox(0, static_cast<Draw>(0), 0, 0, 0);
    CHECK(r == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
}

TEST_CASE("draws differ in seed, purpose, row, column and stream, and repeat otherwise") {
    std::set<std::uint32_t> words;
    for (const std::uint64_t seed : {1, 2})
        for (const Draw d : {Draw::weights, Draw::dropout})
            for (const std::uint64_t a : {0, 1})
                for (const std::uint32_t column : {0u, 1u, 4u})
                    for (const std::uint32_t c : {0u, 1u}) words.insert(random_word(seed, d, a, column, c));
    CHECK(words.size() == 2 * 2 * 2 * 3 * 2);
    CHECK(random_word(1, Draw::dropout, 5, 6, 7) == random_word(1, Draw::dropout, 5, 6, 7));
}

TEST_CASE("a dropout mask drops its rate, and another part every epoch and layer") {
    const DropoutMask m{.rate = 0.3, .seed = 9, .layer = 1, .epoch = 2};
    DropoutMask next = m;
    next.epoch = 3;
    int dropped = 0, changed = 0;
    for (std::int64_t v = 0; v < 1000; ++v)
        for (std::uint32_t c = 0; c < 20; ++c) {
            dropped += m.dropped(v, c);
            changed += m.dropped(v, c) != next.dropped(v, c);
        }
    CHECK(dropped / 20000.0 == Approx(0.3).margin(0.02));  // five standard deviations are 0.016
    CHECK(changed / 20000.0 == Approx(2 * 0.3 * 0.7).margin(0.02));
    CHECK(m.scale() == Approx(1 / 0.7));
}

TEST_CASE("below() stays below and reaches everything") {
    RandomStream s(3, Draw::graph);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(s.below(7));
    CHECK(seen.size() == 7);
    CHECK(*seen.rbegin() == 6);
}

TEST_CASE("a parameter's text is parsed as declared, and refused with what is allowed") {
    const ParamDecl whole{"parts", ParamType::integer, "4", 1, 8, nullptr, ""};
    const ParamDecl word{"objective", ParamType::choice, "cut", 0, 0, "cut|volume", ""};
    const ParamDecl list[] = {whole, word};
    Params p(list);
    CHECK_THROWS_WITH(p.set(whole, "9"), "parameter 'parts' is '9'; allowed is a whole number between 1 and 8");
    CHECK_THROWS_AS(p.set(whole, "2x"), SpecError);
    CHECK_THROWS_AS(p.set(word, "vol"), SpecError);
    CHECK(p.integer("parts") == 4);
    p.set(whole, "8");
    p.set(word, "volume");
    CHECK(p.integer("parts") == 8);
    CHECK(p.choice("objective") == "volume");
    CHECK_THROWS_AS(p.boolean("nothing"), LogicError);
}
