#include <catch2/catch.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/simulation/machine.hpp>

namespace gnnbench::simulation {
namespace {

TEST_CASE("a curve follows powers between its points") {
    const Curve c{{{1, 10}, {100, 1000}}};
    CHECK(c.rate(10) == Approx(100));
    CHECK(c.rate(0.5) == 10);
    CHECK(c.rate(1e4) == 1000);
    CHECK(c.seconds(10) == Approx(100));
    CHECK(c.seconds(0.5) == 10);
    CHECK(c.seconds(1e4) == Approx(1e5));
    CHECK_THROWS_AS(Curve().rate(1), LogicError);
}

}  // namespace
}  // namespace gnnbench::simulation
