// How deep JSON is nested, told before a parser sees it.
#include <string>

#include <catch2/catch.hpp>

#include "core/json_nesting.hpp"

using namespace gnnbench;

TEST_CASE("nesting is counted outside strings") {
    CHECK(nested_deeper("[[[]]]", 2));
    CHECK_FALSE(nested_deeper("[[[]]]", 3));
    CHECK(nested_deeper(R"({"a": [{"b": 1}]})", 2));
    CHECK_FALSE(nested_deeper("[][][][][]", 1));
    CHECK_FALSE(nested_deeper(R"(["[[[[", "\\\"[[[["])", 1));
    CHECK(nested_deeper(R"(["\\", [1]])", 1));  // the backslash is escaped, not the quote
    CHECK_FALSE(nested_deeper(""));
    CHECK(nested_deeper(std::string(1'000'000, '{')));
    CHECK_FALSE(nested_deeper("\"" + std::string(1'000'000, '[')));
}
