#include "spec/claims_file.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/cell_filter.hpp"
#include "spec/table_keys.hpp"
#include "spec/table_measure.hpp"
#include "spec/text_file.hpp"

namespace gnnbench {
namespace {

std::optional<double> real_at(const YamlNode& n, std::string_view key) {
    const YamlNode* found = n.find(key);
    double real = 0;
    return found && to_real(*found, real) ? std::optional(real) : std::nullopt;
}

PaperClaim read_claim(const YamlNode& n) {
    PaperClaim c;
    c.place = n.place;
    c.id = text_at(n, "id");
    c.at = text_at(n, "at");
    c.says = text_at(n, "says");
    if (const YamlNode* numbers = n.find("numbers"))
        for (const YamlEntry& e : numbers->entries)
            c.numbers[e.key] = {text_at(e.value, "table"), texts(e.value.find("row")),
                                texts(e.value.find("column")), e.place};
    c.value = text_at(n, "value");
    c.over = word_at<OverCells>(n, "over",
                                {{"mean", OverCells::mean},
                                 {"geometric_mean", OverCells::geometric_mean},
                                 {"median", OverCells::median},
                                 {"minimum", OverCells::minimum},
                                 {"maximum", OverCells::maximum}},
                                OverCells::only);
    c.is = real_at(n, "is");
    c.factor = real_at(n, "factor");
    c.at_least = real_at(n, "at_least");
    c.at_most = real_at(n, "at_most");
    c.within = real_at(n, "within").value_or(c.within);
    c.matches = text_at(n, "matches");
    c.order = texts(n.find("order"));
    c.rises = text_at(n, "rises");
    c.falls = text_at(n, "falls");
    c.runs = text_at(n, "runs");
    c.out_of_memory = text_at(n, "out_of_memory");
    if (n.find("settings")) {
        c.settings.clear();
        for (const std::string& word : texts(n.find("settings")))
            c.settings.push_back(word == "paper"    ? ClaimSetting::paper
                                 : word == "scaled" ? ClaimSetting::scaled
                                                    : ClaimSetting::simulated);
    }
    c.unstated = texts(n.find("unstated"));
    c.caution = text_at(n, "caution");
    c.contradicts = text_at(n, "contradicts");
    c.missing = text_at(n, "missing");
    return c;
}

bool is_plain_name(const std::string& text, std::string_view also) {
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || also.find(c) != also.npos;
    });
}

/// A relation's key and the names of numbers that it has.
std::vector<std::pair<const char*, std::vector<std::string>>> relations_of(const PaperClaim& c) {
    std::vector<std::pair<const char*, std::vector<std::string>>> all;
    const auto one = [&](const char* key, const std::string& name) {
        if (!name.empty()) all.push_back({key, {name}});
    };
    one("matches", c.matches);
    if (!c.order.empty()) all.emplace_back("order", c.order);
    one("rises", c.rises);
    one("falls", c.falls);
    one("runs", c.runs);
    one("out_of_memory", c.out_of_memory);
    return all;
}

/// Checks what the keys' types cannot say.
class ClaimChecker {
public:
    ClaimChecker(const ClaimsFile& file, Findings& findings) : file_(file), findings_(findings) {}

    void check(const PaperClaim& c) {
        if (!is_plain_name(c.id, "-."))
            add(c, "id", fmt::format("expected small letters, digits and hyphens; found '{}'", c.id));
        if (!ids_.insert(c.id).second) add(c, c.id, "two claims have this id; rename one");
        check_judged(c);
        for (const auto& [name, places] : c.numbers) check_places(name, places);
        for (const auto& [key, names] : relations_of(c))
            for (const std::string& name : names) check_name(c, key, name);
        if (c.order.size() == 1) add(c, "order", "expected two or more names");
        check_sizes(c);
        if (!c.value.empty()) check_value(c);
    }

private:
    void add(const PaperClaim& c, const std::string& key, const std::string& message) {
        findings_.add(c.place, c.id == key ? key : c.id + "." + key, message);
    }

    void check_judged(const PaperClaim& c) {
        const bool compared = c.is || c.factor || c.at_least || c.at_most;
        const bool related = compared || !relations_of(c).empty();
        if (related == !c.missing.empty())
            add(c, "missing",
                related
                    ? "is given beside a relation; a claim that is not judged has none"
                    : "expected a relation (is, factor, at_least, at_most, matches, order, rises, falls, runs, "
                      "out_of_memory), or why there is none");
        if (compared == c.value.empty())
            add(c, "value",
                compared ? "expected an expression, which is, factor, at_least and at_most are about"
                         : "nothing compares it; give is, factor, at_least or at_most");
        if (c.is && c.factor) add(c, "factor", "conflicts with is; only one of them is allowed");
        if (c.factor && *c.factor <= 0) add(c, "factor", "expected a number above 0");
    }

    void check_name(const PaperClaim& c, const std::string& key, const std::string& name) {
        if (c.numbers.contains(name)) return;
        std::vector<std::string> known;
        for (const auto& [one, places] : c.numbers) known.push_back(one);
        add(c, key, fmt::format("there are no numbers '{}'; {}", name, allowed_words(name, known)));
    }

    void check_places(const std::string& name, const ClaimPlaces& places) {
        if (!is_plain_name(name, "_") || (name[0] >= '0' && name[0] <= '9'))
            findings_.add(places.place, name,
                          "expected small letters, digits and _ that do not begin with a digit");
        else if (!is_expression(name, {{name, 1.0}}))
            findings_.add(places.place, name,
                          "is a word of SQL, which `value` could not use; choose another name");
        const auto table = file_.tables.find(places.table);
        if (table == file_.tables.end()) {
            findings_.add(places.place, name, fmt::format("there is no table '{}' in this folder", places.table));
            return;
        }
        const auto among = [&](const std::vector<TableLine>& lines, const std::string& one, const char* what) {
            if (std::ranges::find(lines, one, &TableLine::name) != lines.end()) return;
            std::vector<std::string> known;
            for (const TableLine& line : lines) known.push_back(line.name);
            findings_.add(
                places.place, name,
                fmt::format("{} has no {} '{}'; {}", places.table, what, one, allowed_words(one, known)));
        };
        for (const std::string& row : places.rows) among(table->second.rows, row, "row");
        for (const std::string& column : places.columns) among(table->second.columns, column, "column");
    }

    static bool is_expression(const std::string& text, const CellFields& names) {
        try {
            CellFilter({{names}}).values(text);
            return true;
        } catch (const SpecError&) {
            return false;
        }
    }

    static std::size_t size_of(const ClaimPlaces& p) { return p.rows.size() * p.columns.size(); }

    /// Numbers that are compared place by place have as many places, or one.
    void check_same_size(const PaperClaim& c, const std::string& key, const std::vector<std::string>& names) {
        std::set<std::size_t> sizes;
        for (const std::string& name : names)
            if (const auto found = c.numbers.find(name); found != c.numbers.end() && size_of(found->second) != 1)
                sizes.insert(size_of(found->second));
        if (sizes.size() > 1)
            add(c, key,
                fmt::format(
                    "compares numbers place by place that have {} places; expected as many of each, or one",
                    fmt::join(sizes, " and ")));
    }

    void check_sizes(const PaperClaim& c) {
        check_same_size(c, "value", c.names_in_value());
        check_same_size(c, "order", c.order);
        for (const auto& [key, name] : {std::pair{"rises", c.rises}, {"falls", c.falls}})
            if (const auto found = c.numbers.find(name); found != c.numbers.end() && size_of(found->second) < 2)
                add(c, key, "expected two or more places");
    }

    void check_value(const PaperClaim& c) {
        CellFields ones;
        for (const auto& [name, places] : c.numbers) ones[name] = 1.0;
        try {
            CellFilter({{ones}}).values(c.value);
        } catch (const SpecError& error) {
            add(c, "value", error.what());
        }
    }

    const ClaimsFile& file_;
    Findings& findings_;
    std::set<std::string> ids_;
};

}  // namespace

std::vector<std::string> PaperClaim::names_in_value() const {
    constexpr std::string_view of_names = "abcdefghijklmnopqrstuvwxyz0123456789_";
    std::vector<std::string> names;
    std::string lower = value;  // SQL's names have no case
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (std::size_t at = lower.find_first_of(of_names); at != lower.npos;
         at = lower.find_first_of(of_names, at)) {
        const std::size_t end = std::min(lower.find_first_not_of(of_names, at), lower.size());
        if (std::string word = lower.substr(at, end - at);
            numbers.contains(word) && std::ranges::find(names, word) == names.end())
            names.push_back(std::move(word));
        at = end;
    }
    return names;
}

ClaimsFile load_claims_file(const std::filesystem::path& file) {
    Findings findings;
    const YamlNode root =
        parse_yaml(read_text_file(file, "expected a paper's claims at"), file.string(), findings);
    findings.raise();
    check_table_node(root, "claims", findings);
    findings.raise();
    ClaimsFile all;
    all.file = file;
    all.name = std::filesystem::absolute(file).parent_path().filename().string();
    all.paper = text_at(root, "paper");
    all.source = text_at(root, "source");
    for (const YamlNode& item : root.find("claims")->items) all.claims.push_back(read_claim(item));
    for (const PaperClaim& claim : all.claims)
        for (const auto& [name, places] : claim.numbers) {
            const std::filesystem::path table = file.parent_path() / (places.table + ".yaml");
            std::error_code ignored;
            if (!is_plain_name(places.table, "-_.") || all.tables.contains(places.table) ||
                !std::filesystem::exists(table, ignored))
                continue;
            all.tables.emplace(places.table, load_table_definition(table));
        }
    ClaimChecker checker(all, findings);
    for (const PaperClaim& claim : all.claims) checker.check(claim);
    findings.raise();
    return all;
}

bool is_claims_file(const std::string& text) {
    Findings findings;
    const YamlNode root = parse_yaml(text, "", findings);
    return findings.empty() && root.is(YamlNode::Kind::map) && root.find("claims");
}

}  // namespace gnnbench
