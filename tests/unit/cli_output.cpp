#include <sstream>

#include <catch2/catch.hpp>

#include "cli/output.hpp"
#include "cli/progress.hpp"

using namespace gnnbench;

TEST_CASE("columns are as wide as their widest cell, counted in characters") {
    TextColumns columns({"a", "long header", "c"});
    columns.add({"é…", "x", "last"});
    columns.add({"wide cell", "", ""});
    CHECK(columns.text() ==
          "a          long header  c\n"
          "é…         x            last\n"
          "wide cell\n");
}

TEST_CASE("columns hold no control characters") {
    TextColumns columns({"name", "n"});
    columns.add({"\x1b]0;owned\x07", "1"});
    CHECK(columns.text() == "name              n\n\\x1b]0;owned\\x07  1\n");
}

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

TEST_CASE("JSON is printed whatever bytes it holds") {
    std::ostringstream out;
    print_json(out, {{"text", "a\xff"}});
    CHECK(out.str() == "{\n  \"text\": \"a\xef\xbf\xbd\"\n}\n");
}

TEST_CASE("time left is unknown at first, then from the trials done, less what the current one took") {
    Pace pace(4);
    CHECK(pace.left_s(1) < 0);
    pace.finished(10);
    CHECK(pace.left_s(0) == Approx(30));
    CHECK(pace.left_s(4) == Approx(26));
    CHECK(pace.left_s(1000) == Approx(20));
}
