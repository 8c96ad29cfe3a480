#include <sstream>

#include <catch2/catch.hpp>

#include "cli/output.hpp"

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

TEST_CASE("JSON is printed whatever bytes it holds") {
    std::ostringstream out;
    print_json(out, {{"text", "a\xff"}});
    CHECK(out.str() == "{\n  \"text\": \"a\xef\xbf\xbd\"\n}\n");
}
