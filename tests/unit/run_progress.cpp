#include <catch2/catch.hpp>

#include "run/progress.hpp"

using namespace gnnbench;

TEST_CASE("time left is unknown at first, then from the trials done, less what the current one took") {
    Pace pace(4);
    CHECK(pace.left_s(1) < 0);
    pace.finished(10);
    CHECK(pace.left_s(0) == Approx(30));
    CHECK(pace.left_s(4) == Approx(26));
    CHECK(pace.left_s(1000) == Approx(20));
}
