#include <catch2/catch.hpp>

#include <cmath>

#include <gnnbench/simulation/recency.hpp>

namespace gnnbench::simulation {
namespace {

/// Operands at places of a memory that nobody reads.
Recency::Operand at(std::uintptr_t place, std::size_t extent, double moved) {
    return {reinterpret_cast<const void*>(place), extent, moved};
}

std::vector<Moved> touch(Recency& r, std::vector<Recency::Operand> operands) { return r.touch(operands); }

TEST_CASE("what was never touched is infinitely old, what a kernel repeats as old as what it touches") {
    Recency r;
    const std::vector<Recency::Operand> kernel{at(1000, 100, 100), at(5000, 300, 600)};
    for (const Moved& m : touch(r, kernel)) CHECK(std::isinf(m.since));
    const std::vector<Moved> again = touch(r, kernel);
    REQUIRE(again.size() == 2);
    CHECK(again[0].bytes == 100);
    CHECK(again[1].bytes == 600);
    CHECK(again[0].since == 400);
    CHECK(again[1].since == 400);
}

TEST_CASE("others' bytes count once, however often they were touched") {
    Recency r;
    touch(r, {at(1000, 100, 100)});
    for (int i = 0; i < 3; ++i) touch(r, {at(5000, 50, 50)});
    // Half of its kernel's 100, 50 between, half of this one's 100.
    CHECK(touch(r, {at(1000, 100, 100)}).at(0).since == 150);
}

TEST_CASE("parts of an operand are as old as each of them is") {
    Recency r;
    touch(r, {at(1000, 100, 100)});
    touch(r, {at(1040, 20, 20)});
    const std::vector<Moved> parts = touch(r, {at(1000, 200, 400)});
    REQUIRE(parts.size() == 4);
    CHECK(parts[0].bytes == 80);
    CHECK(parts[0].since == 40 + 20 + 100);
    CHECK(parts[1].bytes == 40);
    CHECK(parts[1].since == 10 + 100);
    CHECK(parts[2].since == parts[0].since);
    CHECK(parts[3].bytes == 200);
    CHECK(std::isinf(parts[3].since));
}

TEST_CASE("given back, memory is as if it never was") {
    Recency r;
    touch(r, {at(1000, 100, 100)});
    touch(r, {at(2000, 100, 100)});
    r.forget(reinterpret_cast<const void*>(2000), 100);
    CHECK(touch(r, {at(1000, 100, 100)}).at(0).since == 100);
    CHECK(std::isinf(touch(r, {at(2000, 100, 100)}).at(0).since));
    CHECK(touch(r, {at(3000, 0, 0)}).empty());
}

}  // namespace
}  // namespace gnnbench::simulation
