#include <catch2/catch.hpp>

#include "spec/yaml.hpp"

using namespace gnnbench;

namespace {
YamlNode::Kind kind_of(const std::string& text) {
    Findings findings;
    return parse_yaml_value(text, "here", findings).kind;
}
}  // namespace

TEST_CASE("scalars have the types of YAML 1.2's core schema") {
    using Kind = YamlNode::Kind;
    for (const char* text : {"0", "-1", "+12", "007", "0o17", "0x1F"}) {
        INFO(text);
        CHECK(kind_of(text) == Kind::integer);
    }
    for (const char* text : {"1.5", "-1.", "+.5", "1e3", "1E-3", ".5e+2", "1.e0", ".inf", "-.INF", ".nan"}) {
        INFO(text);
        CHECK(kind_of(text) == Kind::real);
    }
    for (const char* text : {".", "+", "e3", "1e", "1e+", ".e1", "0o", "0x", "0o8", "0xg", "+0x1", "1.2.3", "1 2",
                             "1-2", "12a", "--1", "inf"}) {
        INFO(text);
        CHECK(kind_of(text) == Kind::text);
    }
    for (const char* text : {"", "~", "null"}) CHECK(kind_of(text) == Kind::null);
    for (const char* text : {"true", "False"}) CHECK(kind_of(text) == Kind::boolean);
}
