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

TEST_CASE("a status line shortens what runs, and keeps how far it is") {
    const std::string what = "[3/12] dcsbm-20000x40 mg-gcn(overlap=false) metis 4 gpus trial 1",
                      how_far = "  4m 05s left, epoch 3/22, 8.2 ms each";
    CHECK(status_line(what, how_far, 200) == what + how_far);
    CHECK(status_line(what, how_far, 80) ==
          "[3/12] dcsbm-20000x40 mg-gcn(overlap=fal…  4m 05s left, epoch 3/22, 8.2 ms each");
    CHECK(status_line(what, how_far, 30) == "[3/12] dcsb…  4m 05s left, e…");
}
