// What a terminal is given of names and texts from elsewhere.
#include <string>

#include <catch2/catch.hpp>

#include "core/printable.hpp"

using namespace gnnbench;

TEST_CASE("escape sequences and other control characters are written out") {
    CHECK(printable("\x1b[2J\x1b]0;title\x07") == "\\x1b[2J\\x1b]0;title\\x07");
    CHECK(printable("\xc2\x9b"
                    "31m") == "\\xc2\\x9b31m");  // U+009B, the one-character form of ESC [
    CHECK(printable("a\rb\x7f\b") == "a\\x0db\\x7f\\x08");
    CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("bytes that are no UTF-8 are written out, and told by their place") {
    CHECK(printable("seq\xe9!") == "seq\\xe9!");
    CHECK(first_no_utf8("seq\xe9!") == 3);
    for (const char* bad :
         {"\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80", "\xe2\x82"})
        CHECK(first_no_utf8(bad) == 0);
}

TEST_CASE("every other text stays as it is") {
    const std::string text = "ä € 𝛼 \xf4\x8f\xbf\xbf\xc2\xa0 line\n\tof 'text' \\x1b";
    CHECK(printable(text) == text);
    CHECK(first_no_utf8(text) == std::string::npos);
}
