#include "spec/yaml.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "core/printable.hpp"

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;
constexpr int deepest = 32;            // nesting; also ends aliases that contain themselves
constexpr int most_nodes = 1'000'000;  // ends aliases that multiply
constexpr int most_keys = 10'000;      // of a mapping, which are merged and replaced one by one

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::string_view decimal = "0123456789";

/// Removes the characters of `set` that `text` begins with; true if there were any.
bool skip(std::string_view& text, std::string_view set) {
    const std::size_t length = std::min(text.find_first_not_of(set), text.size());
    text.remove_prefix(length);
    return length > 0;
}

void skip_sign(std::string_view& text) {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
}

/// Decimal with or without a sign, 0o17 or 0x1f.
bool is_integer(std::string_view text) {
    if (text.starts_with("0o") && text.size() > 2) return text.find_first_not_of("01234567", 2) == text.npos;
    if (text.starts_with("0x") && text.size() > 2)
        return text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos;
    skip_sign(text);
    return skip(text, decimal) && text.empty();
}

/// 1.5, 1., .5 or 15, with or without a sign and an exponent.
bool is_real(std::string_view text) {
    skip_sign(text);
    bool mantissa = skip(text, decimal);
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        mantissa = skip(text, decimal) || mantissa;
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        skip_sign(text);
        mantissa = skip(text, decimal) && mantissa;
    }
    return mantissa && text.empty();
}

/// The tag resolution of the YAML 1.2 core schema, for a scalar without quotes.
Kind plain_kind(const std::string& text) {
    if (text.empty() || one_of(text, {"~", "null", "Null", "NULL"})) return Kind::null;
    if (one_of(text, {"true", "True", "TRUE", "false", "False", "FALSE"})) return Kind::boolean;
    const char c = text.front();
    if ((c < '0' || c > '9') && c != '-' && c != '+' && c != '.') return Kind::text;
    if (text.size() > 64) return Kind::text;
    if (is_integer(text)) return Kind::integer;
    if (is_real(text)) return Kind::real;
    const std::string_view unsigned_text = std::string_view(text).substr(c == '-' || c == '+' ? 1 : 0);
    return one_of(unsigned_text, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"}) ? Kind::real : Kind::text;
}

/// Turns the parser's graph into a tree with places.
class Converter {
public:
    Converter(const std::string& origin, bool lines, Findings& findings)
        : origin_(origin), lines_(lines), findings_(findings) {}

    YamlNode convert(const YAML::Node& from, int depth = 0) {
        YamlNode node;
        node.place = place(from.Mark());
        if (depth > deepest || ++nodes_ > most_nodes) {
            if (!too_much_)
                findings_.add(node.place, "",
                              "expected an experiment; found a document nested deeper than "
                              "32 levels or of more than 1,000,000 nodes (an alias that contains itself?)");
            too_much_ = true;
            return node;
        }
        if (from.IsScalar()) {
            node.text = from.Scalar();
            node.kind =
                from.Tag() == "!" || from.Tag() == "tag:yaml.org,2002:str" ? Kind::text : plain_kind(node.text);
        } else if (from.IsSequence()) {
            node.kind = Kind::list;
            for (const YAML::Node& item : from) node.items.push_back(convert(item, depth + 1));
        } else if (from.IsMap()) {
            node.kind = Kind::map;
            std::unordered_map<std::string, Place> known;
            std::vector<YamlNode> merged;
            for (const auto& entry : from) {
                if (std::ssize(node.entries) >= most_keys) {
                    findings_.add(place(entry.first.Mark()), "",
                                  fmt::format("a mapping has at most {} keys", most_keys));
                    break;
                }
                if (is_merge_key(entry.first))
                    add_merged(merged, known, entry.first, entry.second, depth);
                else
                    add_entry(node, known, entry.first, entry.second, depth);
            }
            for (const YamlNode& base : merged) merge(node, known, base);
        }
        return node;
    }

    Place place(const YAML::Mark& mark) const {
        if (!lines_) return {origin_};
        if (mark.is_null()) return {origin_, 1, 1};
        return {origin_, mark.line + 1, mark.column + 1};
    }

private:
    /// YAML 1.1's "<<", which most tools still read: https://yaml.org/type/merge.html. In quotes it is a key.
    static bool is_merge_key(const YAML::Node& key) {
        return key.IsScalar() && key.Scalar() == "<<" && key.Tag() != "!";
    }

    /// The mappings that a merge key names, the most important first.
    void add_merged(std::vector<YamlNode>& merged, std::unordered_map<std::string, Place>& known,
                    const YAML::Node& key, const YAML::Node& value, int depth) {
        const Place at = place(key.Mark());
        if (const auto other = known.find("<<"); other != known.end()) {
            findings_.add(
                at, "<<",
                fmt::format("the key is given twice in one mapping; the other is at {}; write <<: [*a, *b]",
                            to_text(other->second)));
            return;
        }
        known.emplace("<<", at);
        YamlNode bases = convert(value, depth + 1);
        std::vector<YamlNode> all = bases.is(Kind::list) ? std::move(bases.items) : std::vector{std::move(bases)};
        for (YamlNode& base : all) {
            if (base.is(Kind::map))
                merged.push_back(std::move(base));
            else
                findings_.add(
                    at, "<<",
                    fmt::format("expected a mapping to merge, or a list of mappings, as in <<: *base; found {}",
                                describe(base)));
        }
    }

    /// Adds the keys of `base` that the mapping does not have itself.
    static void merge(YamlNode& map, std::unordered_map<std::string, Place>& known, const YamlNode& base) {
        for (const YamlEntry& e : base.entries)
            if (known.emplace(e.key, e.value.place).second) map.entries.push_back(e);
    }

    void add_entry(YamlNode& map, std::unordered_map<std::string, Place>& known, const YAML::Node& key,
                   const YAML::Node& value, int depth) {
        const Place at = place(key.Mark());
        if (!key.IsScalar()) {
            findings_.add(at, "", "expected a word as key; found a list or a mapping");
            return;
        }
        if (const auto other = known.find(key.Scalar()); other != known.end()) {
            findings_.add(at, key.Scalar(),
                          fmt::format("the key is given twice in one mapping; the other is at {}; "
                                      "remove one",
                                      to_text(other->second)));
            return;
        }
        YamlEntry entry{key.Scalar(), at, convert(value, depth + 1)};
        if (entry.value.is(Kind::null)) entry.value.place = at;  // an absent value has no mark of its own
        known.emplace(entry.key, entry.value.place);
        map.entries.push_back(std::move(entry));
    }

    const std::string& origin_;
    bool lines_;
    Findings& findings_;
    int nodes_ = 0;
    bool too_much_ = false;
};

/// Where a document begins; nothing else of it.
struct DocumentStart : YAML::EventHandler {
    YAML::Mark at = YAML::Mark::null_mark();
    void OnDocumentStart(const YAML::Mark& mark) override { at = mark; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

/// Where a second document begins, if there is one. YAML::LoadAll, which would say so too, never ends where a
/// character that begins no document is left (","): it finds an empty one there, again and again.
std::optional<YAML::Mark> second_document(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentStart first, second;
    if (parser.HandleNextDocument(first) && parser.HandleNextDocument(second)) return second.at;
    return std::nullopt;
}

/// yaml-cpp's message without what it repeats of the file, which may be another program's.
std::string without_text(const std::string& message) {
    for (const std::string_view ending : {"anchor is not defined", "unknown escape character"})
        if (const std::size_t at = message.find(ending); at != std::string::npos)
            return message.substr(0, at + ending.size());
    return message;
}

YamlNode parse(const std::string& text, const std::string& origin, bool lines, Findings& findings) {
    Converter converter(origin, lines, findings);
    if (const std::size_t bad = first_no_utf8(text); bad != text.npos) {
        const std::string_view before = std::string_view(text).substr(0, bad);
        YAML::Mark mark;
        mark.line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
        mark.column = static_cast<int>(bad - (before.rfind('\n') + 1));  // npos + 1 is 0
        findings.add(
            converter.place(mark), "",
            fmt::format("expected text in UTF-8; found the byte 0x{:02x}", static_cast<unsigned char>(text[bad])));
        YamlNode nothing;
        nothing.place = converter.place(mark);
        return nothing;
    }
    try {
        if (const auto second = second_document(text))
            findings.add(converter.place(*second), "",
                         "expected one YAML document; found more from here on; split the file, or remove it");
        return converter.convert(YAML::Load(text));
    } catch (const YAML::Exception& e) {
        findings.add(converter.place(e.mark), "",
                     fmt::format("expected YAML; found a syntax error: {}", without_text(e.msg)));
    }
    YamlNode empty;
    empty.place = converter.place(YAML::Mark::null_mark());
    return empty;
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
    for (const YamlEntry& e : entries)
        if (e.key == key) return &e.value;
    return nullptr;
}

YamlNode* YamlNode::find(std::string_view key) {
    return const_cast<YamlNode*>(static_cast<const YamlNode*>(this)->find(key));
}

void YamlNode::erase(std::string_view key) {
    std::erase_if(entries, [&](const YamlEntry& e) { return e.key == key; });
}

YamlNode& YamlNode::insert(std::string key, YamlNode value) {
    Place at = value.place;
    entries.push_back({std::move(key), std::move(at), std::move(value)});
    return entries.back().value;
}

std::string describe(const YamlNode& node) {
    switch (node.kind) {
        case Kind::null:
            return "nothing";
        case Kind::boolean:
            return "the boolean " + node.text;
        case Kind::integer:
            return "the integer " + node.text;
        case Kind::real:
            return "the real number " + node.text;
        case Kind::text:
            return fmt::format("the text '{}'", node.text);
        case Kind::list:
            return "a list";
        case Kind::map:
            return "a mapping";
    }
    return {};
}

std::string describe_kind(const YamlNode& node) {
    switch (node.kind) {
        case Kind::null:
            return "nothing";
        case Kind::boolean:
            return "a boolean";
        case Kind::integer:
        case Kind::real:
            return "a number";
        case Kind::text:
            return "a text";
        case Kind::list:
            return "a list";
        case Kind::map:
            return "a mapping";
    }
    return {};
}

bool is_true(const YamlNode& node) {
    return node.is(Kind::boolean) && one_of(node.text, {"true", "True", "TRUE"});
}

bool to_integer(const YamlNode& node, std::int64_t& out) {
    if (!node.is(Kind::integer)) return false;
    std::string_view digits = node.text;
    int base = 10;
    if (digits.starts_with("0x")) base = 16;
    if (digits.starts_with("0o")) base = 8;
    if (base != 10) digits.remove_prefix(2);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, base);
    return error == std::errc() && end == digits.data() + digits.size();
}

bool to_real(const YamlNode& node, double& out) {
    if (std::int64_t whole = 0; to_integer(node, whole)) {
        out = static_cast<double>(whole);
        return true;
    }
    if (!node.is(Kind::real)) return false;
    std::string_view digits = node.text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc() && end == digits.data() + digits.size() && std::isfinite(out);
}

YamlNode parse_yaml(const std::string& text, const std::string& origin, Findings& findings) {
    return parse(text, origin, true, findings);
}

YamlNode plain_scalar(std::string word) {
    YamlNode node;
    node.kind = plain_kind(word);
    node.text = std::move(word);
    return node;
}

YamlNode parse_yaml_value(const std::string& text, const std::string& origin, Findings& findings) {
    return parse(text, origin, false, findings);
}

}  // namespace gnnbench
