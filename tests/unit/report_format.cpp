#include <cmath>

#include <catch2/catch.hpp>

#include "core/plural.hpp"
#include "report/format.hpp"
#include "report/units.hpp"

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

TEST_CASE("numbers have three digits, and two below a tenth, however small") {
    CHECK(three_digits(1234) == "1234");
    CHECK(three_digits(12.34) == "12.3");
    CHECK(three_digits(0.4321) == "0.432");
    CHECK(three_digits(0.04321) == "0.043");
    CHECK(three_digits(0.00999) == "0.010");
    CHECK(three_digits(0.000432) == "0.00043");
    CHECK(three_digits(-0.000432) == "-0.00043");
    CHECK(three_digits(4.32e-9) == "4.3e-09");
    CHECK(three_digits(0) == "0");
    CHECK(three_digits(NAN) == "nan");
    CHECK(interval(0.0004, 0.0061) == "0.00040–0.0061");
    CHECK(ratio(1.234) == "1.23");
    CHECK(ratio(0.056) == "0.06");
    CHECK(ratio(0.0043) == "0.0043");
    CHECK(ratio(0) == "0.00");
}

TEST_CASE("counts have a plural") {
    CHECK(plural(0, "trial") == "0 trials");
    CHECK(plural(1, "trial") == "1 trial");
    CHECK(plural(std::size_t{2}, "trial") == "2 trials");
}
