#include "spec/table_definition.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "spec/metrics.hpp"
#include "spec/published.hpp"
#include "spec/table_keys.hpp"
#include "spec/yaml.hpp"
#include "spec/text_file.hpp"

namespace gnnbench {
namespace {

std::string text_at(const YamlNode& map, std::string_view key) {
    const YamlNode* n = map.find(key);
    return n && n->scalar() ? n->text : "";
}

/// A text or a list of texts.
std::vector<std::string> texts(const YamlNode* n) {
    if (!n) return {};
    if (!n->is(YamlNode::Kind::list)) return {n->text};
    std::vector<std::string> all;
    for (const YamlNode& item : n->items) all.push_back(item.text);
    return all;
}

Conditions conditions(const YamlNode* n) {
    Conditions all;
    if (n)
        for (const YamlEntry& e : n->entries) all.push_back({e.key, texts(&e.value)});
    return all;
}

template <class E>
E word_at(const YamlNode& map, std::string_view key, std::initializer_list<std::pair<const char*, E>> words,
          E otherwise) {
    const std::string text = text_at(map, key);
    for (const auto& [word, value] : words)
        if (text == word) return value;
    return otherwise;
}

constexpr std::pair<const char*, Against> all_against[] = {{"speed_up_over", Against::speed_up_over},
                                                           {"relative_to", Against::relative_to},
                                                           {"efficiency_over", Against::efficiency_over},
                                                           {"karp_flatt_over", Against::karp_flatt_over},
                                                           {"overtakes", Against::overtakes},
                                                           {"pays_back_over", Against::pays_back_over}};

/// What a number is set against, in one way.
void read_against(const YamlNode& n, Measure& m, Findings& findings) {
    const char* first = nullptr;
    for (const auto& [key, against] : all_against) {
        const YamlNode* base = n.find(key);
        if (!base) continue;
        if (first) {
            findings.add(base->place, key, fmt::format("conflicts with {}; only one such key is allowed", first));
            continue;
        }
        first = key;
        m.against = against;
        m.base = conditions(base);
        if (!n.find("unit")) m.unit = unit_of(against);
        const Metric* metric = find_metric(m.metric);
        if (!metric) continue;
        if (against == Against::pays_back_over && metric->name != "epoch_s")
            findings.add(base->place, key,
                         fmt::format("counts epochs, so the metric has to be epoch_s; found {}", m.metric));
        if ((against == Against::efficiency_over || against == Against::karp_flatt_over) && metric->unit != "s")
            findings.add(base->place, key, fmt::format("is of times; {} is none", m.metric));
        if (against == Against::overtakes)
            for (const Condition& c : m.base)
                if (c.field == "gpus") findings.add(base->place, key, "runs over gpus itself; name other fields");
    }
}

void check_unit(const YamlNode& n, Measure& m, Findings& findings) {
    const Metric* metric = find_metric(m.metric);
    if (metric && m.unit.empty() && m.against == Against::nothing) m.unit = metric->unit;
    const ShownUnit* shown = find_unit(m.unit);
    const ShownUnit* result = find_unit(unit_of(m.against));
    const std::string_view own = m.against != Against::nothing ? result->of : metric ? metric->unit : "";
    if (metric && shown && shown->of != own)
        findings.add((n.find("unit") ? *n.find("unit") : n).place, "unit",
                     m.against == Against::nothing
                         ? fmt::format("{} is in '{}', which '{}' is no unit of", m.metric, own, m.unit)
                         : fmt::format("the result is in '{}', which '{}' is no unit of", result->name, m.unit));
}

/// `fallback`: what the table says, of which a line's measure may leave out all but what it changes.
Measure read_measure(const YamlNode& n, const Measure& fallback, Findings& findings) {
    Measure m = fallback;
    if (const YamlNode* metric = n.find("metric")) {
        m = {};
        m.metric = metric->text;
        std::vector<std::string> known;
        for (const Metric& one : metrics()) known.emplace_back(one.name);
        if (!find_metric(m.metric))
            findings.add(metric->place, "metric",
                         fmt::format("there is no metric '{}'; {}", m.metric, allowed_words(m.metric, known)));
    }
    if (const YamlNode* unit = n.find("unit")) {
        m.unit = unit->text;
        std::vector<std::string> known;
        for (const ShownUnit& one : shown_units())
            if (!one.name.empty()) known.emplace_back(one.name);
        if (!find_unit(m.unit))
            findings.add(unit->place, "unit",
                         fmt::format("there is no unit '{}'; {}", m.unit, allowed_words(m.unit, known)));
    }
    if (const YamlNode* decimals = n.find("decimals")) {
        std::int64_t whole = 0;
        if (to_integer(*decimals, whole)) m.decimals = static_cast<int>(whole);
    }
    m.over_cells = word_at<OverCells>(n, "over_cells",
                                      {{"only", OverCells::only},
                                       {"minimum", OverCells::minimum},
                                       {"maximum", OverCells::maximum},
                                       {"median", OverCells::median},
                                       {"mean", OverCells::mean},
                                       {"geometric_mean", OverCells::geometric_mean}},
                                      m.over_cells);
    read_against(n, m, findings);
    check_unit(n, m, findings);
    return m;
}

TableLine read_line(const YamlNode& n, const Measure& fallback, Findings& findings) {
    TableLine line;
    line.place = n.place;
    if (n.scalar()) {
        line.name = line.label = n.text;
        return line;
    }
    line.name = text_at(n, "name");
    line.label = n.find("label") ? text_at(n, "label") : line.name;
    line.section = text_at(n, "section");
    line.where = conditions(n.find("where"));
    if (const YamlNode* cell = n.find("cell")) line.measure = read_measure(*cell, fallback, findings);
    line.measured = text_at(n, "measured") != "false";
    return line;
}

std::vector<TableLine> read_lines(const YamlNode& n, const Measure& fallback, Findings& findings) {
    std::vector<TableLine> lines;
    if (n.is(YamlNode::Kind::map)) {
        const std::string field = text_at(n, "over");
        for (const std::string& value : texts(n.find("values")))
            lines.push_back({value, value, "", {{field, {value}}}, {}, true, n.place});
    } else {
        for (const YamlNode& item : n.items) lines.push_back(read_line(item, fallback, findings));
    }
    std::set<std::string> names;
    for (const TableLine& line : lines)
        if (!names.insert(line.name).second)
            findings.add(line.place, line.name, "two lines have this name; rename one and keep its label");
    return lines;
}

PlotDefinition read_plot(const YamlNode& n) {
    PlotDefinition p;
    p.kind = word_at<PlotKind>(n, "kind",
                               {{"line", PlotKind::line},
                                {"scaling", PlotKind::scaling},
                                {"bars", PlotKind::bars},
                                {"stacked", PlotKind::stacked},
                                {"scatter", PlotKind::scatter},
                                {"timeline", PlotKind::timeline}},
                               PlotKind::line);
    p.x_label = text_at(n, "x_label");
    p.y_label = text_at(n, "y_label");
    p.over_columns = text_at(n, "over") == "columns";
    p.panels = text_at(n, "panels") == "true";
    p.product = text_at(n, "window") == "product";
    p.log_x = p.log_y = p.kind == PlotKind::scaling;
    for (const std::string& axis : texts(n.find("log"))) (axis == "x" ? p.log_x : p.log_y) = true;
    return p;
}

/// "plexus/table-5-1" of …/plexus/table-5-1.yaml
std::string name_of(const std::filesystem::path& file) {
    const std::string folder = file.parent_path().filename().string();
    return (folder.empty() || folder == "." ? "" : folder + "/") + file.stem().string();
}

void fill(TableDefinition& t, const YamlNode& root, Findings& findings) {
    t.title = text_at(root, "title");
    t.source = text_at(root, "source");
    t.row_head = text_at(root, "row_head");
    t.experiments = texts(root.find("experiments"));
    if (const YamlNode* cell = root.find("cell")) t.measure = read_measure(*cell, {}, findings);
    t.where = conditions(root.find("where"));
    t.rows = read_lines(*root.find("rows"), t.measure, findings);
    t.columns = read_lines(*root.find("columns"), t.measure, findings);
    if (root.find("show")) {
        const auto shown = texts(root.find("show"));
        const auto has = [&](const char* word) {
            return std::find(shown.begin(), shown.end(), word) != shown.end();
        };
        t.show_ours = has("ours");
        t.show_published = has("published");
        t.show_ratio = has("ratio");
    }
    t.best = word_at<Best>(root, "best", {{"lowest", Best::lowest}, {"highest", Best::highest}}, Best::none);
    t.failures = word_at<FailureStyle>(
        root, "failures", {{"dash", FailureStyle::dash}, {"empty", FailureStyle::empty}}, FailureStyle::word);
    t.notes = texts(root.find("notes"));
    t.missing = text_at(root, "missing");
    t.device = text_at(root, "device");
    if (const YamlNode* plot = root.find("plot")) t.plot = read_plot(*plot);
}

std::string contents(const std::filesystem::path& file) {
    return read_text_file(file, "expected a table's definition at");
}

}  // namespace

std::string_view unit_of(Against against) {
    switch (against) {
        case Against::speed_up_over:
        case Against::relative_to:
            return "×";
        case Against::overtakes:
            return "devices";
        case Against::pays_back_over:
            return "epochs";
        case Against::efficiency_over:
        case Against::karp_flatt_over:
        case Against::nothing:
            break;
    }
    return "";
}

TableDefinition read_table_definition(const std::string& text, const std::filesystem::path& file,
                                      const std::string& published, const std::string& measured) {
    Findings findings;
    const YamlNode root = parse_yaml(text, file.string(), findings);
    findings.raise();
    check_table_node(root, "table", findings);
    findings.raise();
    TableDefinition t;
    t.file = file;
    t.name = name_of(std::filesystem::absolute(file));
    fill(t, root, findings);
    const auto known = [&](const Place& place, const std::string& row, const std::string& column) {
        const auto among = [&](const std::vector<TableLine>& lines, const std::string& name, const char* what) {
            std::vector<std::string> names;
            for (const TableLine& l : lines) names.push_back(l.name);
            if (std::find(names.begin(), names.end(), name) != names.end()) return true;
            findings.add(place, name,
                         fmt::format("{} has no such {}; {}", t.name, what, allowed_words(name, names)));
            return false;
        };
        return among(t.rows, row, "row") && among(t.columns, column, "column");
    };
    const auto keep = [&](const auto& rows, const std::string& csv, auto& kept) {
        for (const auto& [line, table, value] : rows) {
            const Place place{csv, line, 1};
            if (table != file.stem().string() || !known(place, value.row, value.column)) continue;
            if (!kept.emplace(std::pair(value.row, value.column), value).second)
                findings.add(place, value.row + ", " + value.column, "is given twice; remove one");
        }
    };
    const std::string csv = (file.parent_path() / "published.csv").string(),
                      ours = (file.parent_path() / "measured.csv").string();
    const auto rows = read_published(published, csv, findings);
    for (const auto& [line, table, value] : rows)
        if (table == paper_graphs && value.column == "vertices") t.vertices[value.row] = value.value.value_or(0);
    keep(rows, csv, t.published);
    keep(read_counted(measured, ours, findings), ours, t.counted);
    findings.raise();
    return t;
}

TableDefinition load_table_definition(const std::filesystem::path& file) {
    const std::string text = contents(file);
    const auto beside = [&](const char* name) {
        const std::filesystem::path csv = file.parent_path() / name;
        std::error_code ignored;
        return std::filesystem::exists(csv, ignored) ? contents(csv) : "";
    };
    return read_table_definition(text, file, beside("published.csv"), beside("measured.csv"));
}

std::vector<std::string> under_profile(const std::vector<std::string>& experiments, const std::string& profile) {
    std::vector<std::string> names;
    for (const std::string& name : experiments) names.push_back(profile.empty() ? name : name + "-" + profile);
    return names;
}

bool is_table_definition(const std::string& text) {
    Findings findings;
    const YamlNode root = parse_yaml(text, "", findings);
    return findings.empty() && root.is(YamlNode::Kind::map) && root.find("columns");
}

std::map<std::string, int> published_tables(const std::filesystem::path& file) {
    Findings findings;
    std::map<std::string, int> tables;
    for (const auto& [line, table, value] : read_published(contents(file), file.string(), findings))
        if (table != paper_graphs) tables.emplace(table, line);
    findings.raise();
    return tables;
}

}  // namespace gnnbench
