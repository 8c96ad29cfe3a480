// Parts of unequal sizes: the family of shares, and what blocks and halos always keep.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gnnbench/simulation/uneven_parts.hpp>
#include <gnnbench/usize.hpp>

using namespace gnnbench;

namespace {

/// 100,000 vertices of 20 entries each.
UnevenParts::Told told(PartImbalance imbalance, double inside = 0.7, double halo_per_vertex = 0.5) {
    return {.vertices = 100'000,
            .entries = 2e6,
            .inside = inside,
            .halo = halo_per_vertex * 1e5,
            .imbalance = imbalance};
}

struct Sums {
    double entries = 0, own = 0, halo = 0;
};

/// Checks what holds for all parts, capped or not.
Sums checked(const UnevenParts& parts) {
    Sums sums;
    for (Part i = 0; i < parts.parts(); ++i) {
        const auto rows = static_cast<double>(parts.index().size(i));
        double line = 0, needed = 0;
        for (Part j = 0; j < parts.parts(); ++j) {
            const auto columns = static_cast<double>(parts.index().size(j));
            const double entries = parts.entries(i, j);
            INFO("block (" << i << ", " << j << ") of " << rows << " × " << columns << ": " << entries
                           << " entries, " << (i == j ? 0 : parts.needed(i, j)) << " needed");
            CHECK(entries >= 0);
            CHECK(entries <= rows * (i == j ? columns - 1 : columns) * (1 + 1e-9));
            CHECK(entries == Approx(parts.entries(j, i)));
            line += entries;
            if (i == j) {
                sums.own += entries;
                continue;
            }
            CHECK(parts.needed(i, j) >= 0);
            CHECK(parts.needed(i, j) <= std::min(columns, entries) * (1 + 1e-9));
            needed += parts.needed(i, j);
        }
        CHECK(parts.entries_of(i) == Approx(line));
        CHECK(parts.needed_of(i) == Approx(needed));
        sums.entries += line;
        sums.halo += needed;
    }
    return sums;
}

}  // namespace

TEST_CASE("shares of uneven parts add up to 1, fall, and have the largest as told") {
    for (const Part parts : {2, 3, 16, 256, 2048})
        for (const double imbalance : {1.0, 1.03, 1.6, 8.8, 5000.0}) {
            INFO(parts << " parts, largest " << imbalance << " × the mean");
            const auto shares = uneven_shares(parts, imbalance);
            REQUIRE(std::ssize(shares) == parts);
            CHECK(std::reduce(shares.begin(), shares.end()) == Approx(1));
            CHECK(std::is_sorted(shares.rbegin(), shares.rend()));
            CHECK(shares.front() * parts == Approx(std::min<double>(imbalance, parts)));
            if (imbalance == 1) CHECK(shares.front() == shares.back());
        }
    // By hand: of 3 parts with a = 1, 1 : 1/2 : 1/3 = 6 : 3 : 2, the largest 18/11 of the mean.
    const auto by_hand = uneven_shares(3, 18.0 / 11);
    CHECK(by_hand[1] == Approx(3.0 / 11));
    CHECK(by_hand[2] == Approx(2.0 / 11));
}

TEST_CASE("uneven parts have the imbalances, the locality and the halo that are told") {
    for (const Part parts : {4, 16, 256})
        for (const PartImbalance imbalance :
             {PartImbalance{1, 1, 1}, PartImbalance{1.03, 1.6, 1.9}, PartImbalance{1, 1.6, 1},
              PartImbalance{1.03, 1, 1.4}, PartImbalance{1.2, 1.9, 1.9}}) {
            INFO(parts << " parts, " << imbalance.vertices << ", " << imbalance.nonzeros << ", "
                       << imbalance.halo);
            const UnevenParts p(told(imbalance), parts);
            const Sums sums = checked(p);
            CHECK(sums.entries == Approx(2e6));
            CHECK(sums.own == Approx(0.7 * 2e6));
            CHECK(sums.halo == Approx(0.5e5));
            const PartImbalance found = p.imbalance();
            CHECK(found.vertices == Approx(imbalance.vertices).epsilon(0.002));  // whole vertices
            CHECK(found.nonzeros == Approx(imbalance.nonzeros).epsilon(1e-6));
            CHECK(found.halo == Approx(imbalance.halo).epsilon(1e-6));
            // No part has half of what is cut, so of each the same share stays inside.
            if (parts > 4)
                for (Part i = 0; i < parts; ++i) CHECK(p.entries(i, i) == Approx(0.7 * p.entries_of(i)));
        }
}

TEST_CASE("of two parts the entries between are one number, and their own blocks make the difference") {
    const UnevenParts p(told({1, 1.3, 1.2}), 2);
    const Sums sums = checked(p);
    CHECK(p.entries(0, 1) == Approx(0.15 * 2e6));
    CHECK(sums.entries == Approx(2e6));
    CHECK(p.imbalance().nonzeros == Approx(1.3));
    CHECK(p.needed(0, 1) == Approx(1.2 * 0.25e5));
    CHECK(p.needed(1, 0) == Approx(0.8 * 0.25e5));
}

TEST_CASE("where parts cannot have what is told, blocks and halos stay possible and sums stay") {
    // A halo of nearly all cut entries: no part can have much more of it than its cut entries.
    const UnevenParts full(told({1, 1, 3}, 0.7, 5.9), 16);
    const Sums of_full = checked(full);
    CHECK(of_full.entries == Approx(2e6));
    CHECK(of_full.halo == Approx(5.9e5));
    CHECK(full.imbalance().halo < 1.05);
    // One part with nearly everything cannot have more than half of what is cut, if the others have the other half.
    const UnevenParts most(told({1, 7.5, 1}, 0.1), 8);
    const Sums of_most = checked(most);
    CHECK(of_most.entries == Approx(2e6));
    CHECK(of_most.own >= 0.1 * 2e6);
    CHECK(most.imbalance().nonzeros < 7.5);
    // A graph that is nearly complete has no room for differences: 400 vertices of 390 entries.
    const UnevenParts dense(
        {.vertices = 400, .entries = 400 * 390, .inside = 0.2, .halo = 1000, .imbalance = {1, 3, 1}}, 8);
    const Sums of_dense = checked(dense);
    CHECK(of_dense.entries == Approx(400 * 390));
    CHECK(dense.imbalance().nonzeros < 1.1);
    // Parts that need nearly all rows of all others cannot need more of them.
    const UnevenParts wide(
        {.vertices = 2000, .entries = 2000 * 200, .inside = 0.3, .halo = 2000 * 6.9, .imbalance = {1.1, 1.2, 1.5}},
        8);
    CHECK(checked(wide).halo == Approx(2000 * 6.9).epsilon(0.01));
    CHECK(wide.imbalance().halo < 1.02);
    // More parts than vertices.
    checked(UnevenParts({.vertices = 10, .entries = 20, .inside = 0.1, .halo = 10, .imbalance = {2, 2, 2}}, 16));
}
