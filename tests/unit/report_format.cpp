#include <catch2/catch.hpp>

#include "core/plural.hpp"
#include "report/format.hpp"

using namespace gnnbench;

TEST_CASE("durations read as people say them") {
    CHECK(duration_text(0.000456) == "0.46 ms");
    CHECK(duration_text(0.0123) == "12.3 ms");
    CHECK(duration_text(0.45) == "450 ms");
    CHECK(duration_text(0.9999) == "1.0 s");
    CHECK(duration_text(12.34) == "12.3 s");
    CHECK(duration_text(59.96) == "1m 00s");
    CHECK(duration_text(245) == "4m 05s");
    CHECK(duration_text(7800) == "2h 10m");
}

TEST_CASE("counts have a plural") {
    CHECK(plural(0, "trial") == "0 trials");
    CHECK(plural(1, "trial") == "1 trial");
    CHECK(plural(std::size_t{2}, "trial") == "2 trials");
}
