#include "spec/table_keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/spelling.hpp>

#include "spec/fields.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

using KeyType = TableKeyType;
using Words = std::span<const char* const>;

constexpr std::array shown_numbers{"ours", "published", "ratio"};
constexpr std::array bests{"none", "lowest", "highest"};
constexpr std::array failure_styles{"word", "dash", "empty"};
constexpr std::array over_cells{"only", "minimum", "maximum", "median", "mean", "geometric_mean"};
constexpr std::array plot_kinds{"line", "scaling", "bars", "stacked", "scatter", "timeline"};
constexpr std::array windows{"epoch", "product"};
constexpr std::array axes{"x", "y"};
constexpr std::array directions{"rows", "columns"};

constexpr std::array all_keys{
    TableKey{"table", "title", KeyType::text, {}, true, "What it shows, in a few words"},
    TableKey{"table", "source", KeyType::text, {}, true, "The paper, and the table's or figure's number in it"},
    TableKey{"table",
             "experiments",
             KeyType::texts,
             {},
             false,
             "The experiments whose trials `ours` shows: names without a profile; `--profile` selects one"},
    TableKey{"table", "cell", KeyType::measure, {}, false, "What a place shows; rows and columns may override it"},
    TableKey{"table", "where", KeyType::conditions, {}, false, "Conditions on the cells of every place"},
    TableKey{"table", "row_head", KeyType::text, {}, false, "The heading of the rows"},
    TableKey{"table", "rows", KeyType::lines, {}, true, "From top to bottom"},
    TableKey{"table", "columns", KeyType::lines, {}, true, "From left to right"},
    TableKey{"table", "show", KeyType::words, Words(shown_numbers), false, "Of each place; default: all three"},
    TableKey{"table", "best", KeyType::word, Words(bests), false,
             "Which of our numbers in a row, and of the simulated ones, is emphasised; default: none"},
    TableKey{"table", "failures", KeyType::word, Words(failure_styles), false,
             "What a failed cell shows: how it ended (the default), a dash, nothing"},
    TableKey{"table", "notes", KeyType::texts, {}, false, "Remarks below the table"},
    TableKey{"table", "missing", KeyType::text, {}, false, "What this program lacks to measure it"},
    TableKey{"table",
             "device",
             KeyType::text,
             {},
             false,
             "What the paper measured on; stands below the table beside ours"},
    TableKey{"table",
             "simulated_on",
             KeyType::texts,
             {},
             false,
             "Machines whose simulated trials, of the experiments' profile `simulated`, stand beside ours"},
    TableKey{
        "table",
        "fitted_to",
        KeyType::conditions,
        {},
        false,
        "Cells whose published numbers constants of these machines were fitted to; simulated numbers that rest "
        "on one are marked"},
    TableKey{"table", "plot", KeyType::plot, {}, false, "How `gnnbench figure` draws it"},

    TableKey{"line", "name", KeyType::text, {}, true, "Its name in published.csv; unique"},
    TableKey{"line", "label", KeyType::text, {}, false, "What readers see; default: the name"},
    TableKey{"line", "section", KeyType::text, {}, false, "A title above consecutive lines"},
    TableKey{"line",
             "where",
             KeyType::conditions,
             {},
             false,
             "Conditions on the cells, in addition to the table's and the other line's"},
    TableKey{"line",
             "cell",
             KeyType::measure,
             {},
             false,
             "What it shows, instead of the table's; a column's overrides a row's"},
    TableKey{
        "line",
        "against",
        KeyType::values,
        {},
        false,
        "Fields and values in place of those that its cells compare with: a row `against: {partitioner: metis}` "
        "where a column has `relative_to: {partitioner: random}`"},
    TableKey{
        "line", "measured", KeyType::boolean, {}, false, "false: another system's numbers, published ones only"},

    TableKey{"measure", "metric", KeyType::text, {}, false, "A metric, listed below"},
    TableKey{"measure", "unit", KeyType::text, {}, false, "A unit, listed below; default: the metric's own"},
    TableKey{"measure",
             "until",
             KeyType::share,
             {},
             false,
             "Of training_s: only up to the first evaluation with this test score; no number where none has it"},
    TableKey{"measure", "decimals", KeyType::whole, {}, false, "Default: three significant digits"},
    TableKey{"measure", "over_cells", KeyType::word, Words(over_cells), false,
             "How several matching cells are combined; default: only, which shows a remark instead of a number"},
    TableKey{"measure",
             "speed_up_over",
             KeyType::values,
             {},
             false,
             "The number of the cell that differs in these fields, divided by this cell's"},
    TableKey{"measure",
             "relative_to",
             KeyType::values,
             {},
             false,
             "This cell's number divided by that of the cell that differs in these fields"},
    TableKey{"measure",
             "efficiency_over",
             KeyType::values,
             {},
             false,
             "The speed-up over the cell that differs in these fields, divided by the ratio of their numbers of "
             "devices"},
    TableKey{"measure",
             "karp_flatt_over",
             KeyType::values,
             {},
             false,
             "The serial fraction that this speed-up implies, after Karp and Flatt"},
    TableKey{"measure",
             "overtakes",
             KeyType::values,
             {},
             false,
             "The number of devices from which on this is lower than the cell with these fields"},
    TableKey{"measure",
             "pays_back_over",
             KeyType::values,
             {},
             false,
             "The number of epochs after which shorter epochs have amortised longer partitioning"},

    TableKey{"plot", "kind", KeyType::word, Words(plot_kinds), true,
             "scaling: lines with both axes logarithmic; bars: in groups; stacked: on each other; scatter: second "
             "column "
             "over first; timeline: operations of a traced epoch, a panel for each row"},
    TableKey{"plot", "over", KeyType::word, Words(directions), false,
             "What varies along x; default: rows; the others are the series"},
    TableKey{"plot",
             "panels",
             KeyType::boolean,
             {},
             false,
             "true: a panel for each row, of a line or scaling figure over columns"},
    TableKey{"plot", "window", KeyType::word, Words(windows), false,
             "What a timeline shows: the whole epoch (default), or the metric product_s's SpMM"},
    TableKey{"plot", "x_label", KeyType::text, {}, false, "Of the axis"},
    TableKey{"plot", "y_label", KeyType::text, {}, false, "Of the axis"},
    TableKey{"plot", "log", KeyType::words, Words(axes), false, "Axes that are logarithmic"},
};

const TableKey* find_key(std::string_view owner, std::string_view name) {
    for (const TableKey* k : keys_of(owner))
        if (k->name == name) return k;
    return nullptr;
}

std::vector<std::string> names_of(std::string_view owner) {
    std::vector<std::string> names;
    for (const TableKey* k : keys_of(owner)) names.emplace_back(k->name);
    return names;
}

/// Whether a file begins with this owner's keys.
bool is_whole_file(std::string_view owner) { return owner == "table" || owner == "claims"; }

std::vector<std::string> strings(Words words) { return {words.begin(), words.end()}; }

bool is_text(const YamlNode& n) { return n.scalar() && !n.is(YamlNode::Kind::null); }

bool all_texts(const YamlNode& n) {
    if (is_text(n)) return true;
    if (!n.is(YamlNode::Kind::list) || n.items.empty()) return false;
    return std::all_of(n.items.begin(), n.items.end(), is_text);
}

void expect(bool fine, const TableKey& key, const YamlNode& n, const char* what, Findings& findings) {
    if (!fine)
        findings.add(n.place, std::string(key.name), fmt::format("expected {}; found {}", what, describe(n)));
}

void check_word(const TableKey& key, const YamlNode& n, Findings& findings) {
    const auto allowed = strings(key.words);
    if (is_text(n) && std::find(allowed.begin(), allowed.end(), n.text) != allowed.end()) return;
    findings.add(n.place, std::string(key.name),
                 fmt::format("found {}; {}", describe(n), allowed_words(is_text(n) ? n.text : "", allowed)));
}

void check_field(const std::string& name, const Place& place, Findings& findings) {
    if (is_choosable(name)) return;
    std::vector<std::string> allowed;
    for (ChoosableField& f : choosable_fields()) allowed.push_back(std::move(f.name));
    findings.add(
        place, name,
        fmt::format("a cell has no such field; {}; parameters are named after their plugin: scheme.overlap",
                    allowed_words(name, allowed)));
}

void check_values(const TableKey& key, const YamlNode& n, Findings& findings) {
    if (!n.is(YamlNode::Kind::map)) return expect(false, key, n, "a mapping of fields to values", findings);
    for (const YamlEntry& e : n.entries) {
        check_field(e.key, e.place, findings);
        const bool fine =
            e.value.scalar() || (e.value.is(YamlNode::Kind::list) && !e.value.items.empty() &&
                                 std::ranges::all_of(e.value.items, [](const YamlNode& v) { return v.scalar(); }));
        expect(fine, key, e.value, "a value or a list of values", findings);
    }
}

void check_conditions(const TableKey& key, const YamlNode& n, Findings& findings) {
    if (n.is(YamlNode::Kind::list))
        for (const YamlNode& item : n.items) check_conditions(key, item, findings);
    else if (n.is(YamlNode::Kind::map))
        check_values(key, n, findings);
    else
        expect(is_text(n), key, n, "a mapping of fields to values, or an expression", findings);
}

void check_lines(const TableKey& key, const YamlNode& n, Findings& findings) {
    if (n.is(YamlNode::Kind::map)) {  // {over: gpus, values: [1, 2]}
        const YamlNode* over = n.find("over");
        const YamlNode* values = n.find("values");
        expect(n.entries.size() == 2 && over && values && is_text(*over) && all_texts(*values), key, n,
               "a list of lines, or {over: field, values: [...]}", findings);
        if (over && is_text(*over)) check_field(over->text, over->place, findings);
        return;
    }
    if (!n.is(YamlNode::Kind::list) || n.items.empty()) return expect(false, key, n, "a list of lines", findings);
    for (const YamlNode& item : n.items) {
        if (is_text(item)) continue;
        if (item.is(YamlNode::Kind::map))
            check_table_node(item, "line", findings);
        else
            expect(false, key, item, "a name or a mapping", findings);
    }
}

void check_value(const TableKey& key, const YamlNode& n, Findings& findings) {
    std::int64_t whole = 0;
    double real = 0;
    switch (key.type) {
        case KeyType::text:
            return expect(is_text(n), key, n, "text", findings);
        case KeyType::texts:
            return expect(all_texts(n), key, n, "text, or a list of texts", findings);
        case KeyType::whole:
            return expect(to_integer(n, whole) && whole >= 0 && whole <= 12, key, n, "an integer from 0 to 12",
                          findings);
        case KeyType::real:
            return expect(to_real(n, real) && std::isfinite(real), key, n, "a number", findings);
        case KeyType::share:
            return expect(to_real(n, real) && real >= 0 && real <= 1, key, n, "a number from 0 to 1", findings);
        case KeyType::boolean:
            return expect(n.is(YamlNode::Kind::boolean), key, n, "true or false", findings);
        case KeyType::word:
            return check_word(key, n, findings);
        case KeyType::words:
            if (n.is(YamlNode::Kind::list))
                for (const YamlNode& item : n.items) check_word(key, item, findings);
            else
                check_word(key, n, findings);
            return;
        case KeyType::values:
            return check_values(key, n, findings);
        case KeyType::conditions:
            return check_conditions(key, n, findings);
        case KeyType::measure:
            return check_table_node(n, "measure", findings);
        case KeyType::plot:
            return check_table_node(n, "plot", findings);
        case KeyType::lines:
            return check_lines(key, n, findings);
        case KeyType::claims:
            if (!n.is(YamlNode::Kind::list) || n.items.empty())
                return expect(false, key, n, "a list of claims", findings);
            for (const YamlNode& item : n.items) check_table_node(item, "claim", findings);
            return;
        case KeyType::places:
            if (!n.is(YamlNode::Kind::map) || n.entries.empty())
                return expect(false, key, n, "a mapping of names to places of a table", findings);
            for (const YamlEntry& e : n.entries) check_table_node(e.value, "places", findings);
            return;
    }
}

}  // namespace

std::span<const TableKey> table_keys() { return all_keys; }

std::vector<const TableKey*> keys_of(std::string_view owner) {
    std::vector<const TableKey*> keys;
    for (const auto all : {table_keys(), claim_keys()})
        for (const TableKey& k : all)
            if (k.owner == owner) keys.push_back(&k);
    return keys;
}

void check_table_node(const YamlNode& node, std::string_view owner, Findings& findings) {
    if (!node.is(YamlNode::Kind::map)) {
        findings.add(node.place, is_whole_file(owner) ? "" : std::string(owner),
                     fmt::format("expected a mapping; found {}",
                                 is_whole_file(owner) ? describe_kind(node) : describe(node)));
        return;
    }
    if (is_whole_file(owner) && std::ranges::none_of(node.entries, [&](const YamlEntry& e) {
            return find_key(owner, e.key) || !did_you_mean(e.key, names_of(owner)).empty();
        })) {
        findings.add(node.place, "",
                     fmt::format("none of its keys is a {}'s; {}", owner == "table" ? "table" : "claims file",
                                 allowed_words("", names_of(owner))));
        return;
    }
    for (const YamlEntry& e : node.entries) {
        const TableKey* key = find_key(owner, e.key);
        if (key)
            check_value(*key, e.value, findings);
        else
            findings.add(e.place, e.key,
                         fmt::format("there is no such key here; {}", allowed_words(e.key, names_of(owner))));
    }
    for (const TableKey* key : keys_of(owner))
        if (key->required && !node.find(key->name))
            findings.add(node.place, std::string(key->name), "is required and not given");
}

}  // namespace gnnbench
