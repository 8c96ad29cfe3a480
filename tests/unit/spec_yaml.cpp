#include <algorithm>

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
    for (const char* text : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
        Findings findings;
        const YamlNode node = parse_yaml_value(text, "here", findings);
        CHECK(node.kind == Kind::boolean);
        CHECK(node.text == text);
        CHECK(is_true(node) == (text[0] == 't' || text[0] == 'T'));
    }
    Findings findings;
    CHECK_FALSE(is_true(parse_yaml_value("'true'", "here", findings)));
}

namespace {

/// "a=1 b=2" of a mapping of scalars, sorted.
std::string flat(const YamlNode& map) {
    std::vector<std::string> all;
    for (const YamlEntry& e : map.entries) all.push_back(e.key + "=" + e.value.text);
    std::ranges::sort(all);
    std::string text;
    for (const std::string& one : all) text += (text.empty() ? "" : " ") + one;
    return text;
}

YamlNode parsed(const std::string& text, std::string& errors) {
    Findings findings;
    YamlNode root = parse_yaml(text, "f.yaml", findings);
    try {
        findings.raise();
    } catch (const SpecError& e) {
        errors = e.what();
    }
    return root;
}

}  // namespace

TEST_CASE("merge keys add what a mapping does not have itself, as other tools do") {
    std::string errors;
    const YamlNode root = parsed(
        "base: &base {a: 1, b: 2}\n"
        "more: &more {b: 3, c: 4}\n"
        "before: {<<: *base, b: 9}\n"
        "after: {b: 9, <<: *base}\n"
        "both: {<<: [*base, *more], d: 5}\n"
        "inline: {<<: {x: 1}}\n"
        "nested: {<<: &n {<<: *more, e: 6}}\n"
        "quoted: {\"<<\": *base}\n"
        "anchor: *base\n",
        errors);
    CHECK(errors.empty());
    CHECK(flat(*root.find("before")) == "a=1 b=9");
    CHECK(flat(*root.find("after")) == "a=1 b=9");
    CHECK(flat(*root.find("both")) == "a=1 b=2 c=4 d=5");
    CHECK(flat(*root.find("inline")) == "x=1");
    CHECK(flat(*root.find("nested")) == "b=3 c=4 e=6");
    CHECK(root.find("quoted")->find("<<"));
    CHECK(flat(*root.find("anchor")) == "a=1 b=2");
    CHECK(root.find("before")->find("a")->place.line == 1);  // where it is written
}

TEST_CASE("what cannot be merged is named, and so is a key given twice") {
    const auto errors_of = [](const std::string& text) {
        std::string errors;
        parsed(text, errors);
        return errors;
    };
    using Catch::Contains;
    CHECK_THAT(errors_of("a: {<<: 3}\n"),
               Contains("f.yaml:1:5: <<: expected a mapping to merge, or a list") && Contains("the integer 3"));
    CHECK_THAT(errors_of("a: {<<: [{x: 1}, y]}\n"), Contains("expected a mapping to merge"));
    CHECK_THAT(errors_of("a: {<<: {x: 1}, <<: {y: 1}}\n"),
               Contains("given twice") && Contains("write <<: [*a, *b]"));
    CHECK_THAT(errors_of("a: 1\na: 2\n"), Contains("given twice"));
    CHECK_THAT(errors_of("a: {x: 1, <<: {y: 1}, x: 2}\n"), Contains("given twice"));
    CHECK_THAT(errors_of("a: *nobody\n"), Contains("anchor is not defined") && !Contains("nobody"));
}

TEST_CASE("a mapping has a limit of keys, which its error names") {
    std::string text, errors;
    for (int i = 0; i < 10'001; ++i) text += "k" + std::to_string(i) + ": 1\n";
    CHECK(parsed(text, errors).entries.size() == 10'000);
    CHECK_THAT(errors, Catch::Contains("a mapping has at most 10000 keys"));
}
