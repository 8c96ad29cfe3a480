#include "spec/table_definition.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "spec/published.hpp"
#include "spec/table_keys.hpp"
#include "spec/table_measure.hpp"
#include "spec/text_file.hpp"

namespace gnnbench {
namespace {

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
    line.base = conditions(n.find("against"));
    const YamlNode* measured = n.find("measured");
    line.measured = !measured || is_true(*measured);
    return line;
}

std::vector<TableLine> read_lines(const YamlNode& n, const Measure& fallback, Findings& findings) {
    std::vector<TableLine> lines;
    if (n.is(YamlNode::Kind::map)) {
        const std::string field = text_at(n, "over");
        const auto add = [&](const YamlNode& value) {
            lines.push_back({value.text, value.text, "", {{field, {value_text(value)}}}, {}, {}, true, n.place});
        };
        if (const YamlNode* values = n.find("values")) {
            if (values->is(YamlNode::Kind::list))
                std::ranges::for_each(values->items, add);
            else
                add(*values);
        }
    } else {
        for (const YamlNode& item : n.items) lines.push_back(read_line(item, fallback, findings));
    }
    std::set<std::string> names;
    for (const TableLine& line : lines)
        if (!names.insert(line.name).second)
            findings.add(line.place, line.name, "two lines have this name; rename one and keep its label");
    return lines;
}

/// What the places of lines with a base of their own show.
void rebase(TableDefinition& t, Findings& findings) {
    std::set<const TableLine*> idle;
    for (const auto* lines : {&t.rows, &t.columns})
        for (const TableLine& line : *lines)
            if (!line.base.empty()) idle.insert(&line);
    if (idle.empty()) return;
    for (const TableLine& row : t.rows)
        for (const TableLine& column : t.columns) {
            const TableLine& line = column.base.empty() ? row : column;
            Measure m = t.measure_of(row, column);
            if (line.base.empty() || m.against == Against::nothing) continue;
            m.base = line.base;
            t.rebased.emplace(std::pair(row.name, column.name), std::move(m));
            idle.erase(&line);
        }
    for (const TableLine* line : idle)
        findings.add(
            line->place, "against",
            fmt::format("no place of {} compares with another cell; expected a `cell` with speed_up_over, "
                        "relative_to or the like",
                        line->name));
}

/// A table is for people, and each of its places is looked for among all cells.
constexpr std::size_t most_places = 10'000;
/// That the conditions of a line, or of the whole table, compare a cell's fields with.
constexpr std::size_t most_values = 1'000;

std::size_t lines_in(const YamlNode& n) {
    if (n.is(YamlNode::Kind::list)) return n.items.size();
    const YamlNode* values = n.find("values");
    return values && values->is(YamlNode::Kind::list) ? values->items.size() : 1;
}

void check_conditions_size(const YamlNode& owner, Findings& findings) {
    const YamlNode* where = owner.find("where");
    std::size_t values = 0;
    for (const Condition& c : conditions(where)) values += std::max<std::size_t>(1, c.values.size());
    if (values > most_values)
        findings.add(where->place, "where",
                     fmt::format("compares with {} values; at most {} are allowed", values, most_values));
}

void check_size(const YamlNode& root, Findings& findings) {
    const YamlNode &rows = *root.find("rows"), &columns = *root.find("columns");
    const std::size_t height = lines_in(rows), width = lines_in(columns);
    if (height * width > most_places)
        findings.add(columns.place, "columns",
                     fmt::format("{} rows and {} columns are {} places; a table has at most {}", height, width,
                                 height * width, most_places));
    check_conditions_size(root, findings);
    for (const YamlNode* lines : {&rows, &columns})
        for (const YamlNode& line : lines->items) check_conditions_size(line, findings);
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
    const YamlNode* panels = n.find("panels");
    p.panels = panels && is_true(*panels);
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
    rebase(t, findings);
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
    t.simulated_on = texts(root.find("simulated_on"));
    t.fitted_to = conditions(root.find("fitted_to"));
    if (const YamlNode* plot = root.find("plot")) t.plot = read_plot(*plot);
}

std::string contents(const std::filesystem::path& file) {
    return read_text_file(file, "expected a table's definition at");
}

}  // namespace

const Measure& TableDefinition::measure_of(const TableLine& row, const TableLine& column) const {
    if (const auto own = rebased.find({row.name, column.name}); own != rebased.end()) return own->second;
    return column.measure ? *column.measure : row.measure ? *row.measure : measure;
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
    check_size(root, findings);
    findings.raise();
    fill(t, root, findings);
    const auto names_of_lines = [](const std::vector<TableLine>& lines) {
        std::set<std::string> names;
        for (const TableLine& l : lines) names.insert(l.name);
        return names;
    };
    const std::set<std::string> row_names = names_of_lines(t.rows), column_names = names_of_lines(t.columns);
    const auto known = [&](const Place& place, const std::string& row, const std::string& column) {
        const auto among = [&](const std::set<std::string>& names, const std::string& name, const char* what) {
            if (names.contains(name)) return true;
            findings.add(place, name,
                         fmt::format("{} has no such {}; {}", t.name, what,
                                     allowed_words(name, std::vector(names.begin(), names.end()))));
            return false;
        };
        return among(row_names, row, "row") && among(column_names, column, "column");
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
