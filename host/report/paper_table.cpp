#include "report/paper_table.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/format.hpp"
#include "report/paper_heading.hpp"
#include "report/units.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;

/// Where units are shown: once for the table, at each column, at each row, or at each number.
enum class UnitPlace { table, column, row, number };

UnitPlace unit_place(const ResolvedTable& r) {
    std::set<std::string> all;
    bool by_column = true, by_row = true;
    const auto gather = [&](auto&& place_of, std::size_t outer, std::size_t inner, bool& same) {
        for (std::size_t o = 0; o < outer; ++o) {
            std::set<std::string> units;
            for (std::size_t i = 0; i < inner; ++i) {
                const ResolvedCell& place = place_of(o, i);
                if (place.given || place.measurable) units.insert(unit_of(place)), all.insert(unit_of(place));
            }
            same &= units.size() <= 1;
        }
    };
    const std::size_t rows = r.cells.size(), columns = r.definition->columns.size();
    gather([&](std::size_t c, std::size_t i) -> const ResolvedCell& { return r.cells[i][c]; }, columns, rows,
           by_column);
    gather([&](std::size_t i, std::size_t c) -> const ResolvedCell& { return r.cells[i][c]; }, rows, columns,
           by_row);
    if (all.size() <= 1) return UnitPlace::table;
    return by_column ? UnitPlace::column : by_row ? UnitPlace::row : UnitPlace::number;
}

/// The unit of the first place that has one, of those that `place_of` gives.
template <class PlaceOf>
std::string unit_among(std::size_t count, const PlaceOf& place_of) {
    for (std::size_t i = 0; i < count; ++i)
        if (const ResolvedCell& place = place_of(i); place.given || place.measurable) return unit_of(place);
    return "";
}

struct ColumnParts {
    bool ours = false, simulated = false, published = false, ratio = false, simulated_ratio = false;
};

/// The numbers that a column shows.
ColumnParts parts_of(const ResolvedTable& r, std::size_t column) {
    const TableDefinition& t = *r.definition;
    ColumnParts p;
    bool both = false;
    for (const auto& row : r.cells) {
        p.ours |= row[column].measurable;
        p.published |= row[column].given != nullptr;
        both |= row[column].ratio().has_value();
    }
    for (const auto& row : r.simulated) {
        p.simulated |= row[column].shows();
        p.simulated_ratio |= row[column].ratio().has_value();
    }
    p.simulated &= t.show_ours;
    p.simulated_ratio &= t.show_ratio && t.show_published && p.simulated;
    p.ours &= t.show_ours;
    p.published &= t.show_published;
    p.ratio = t.show_ratio && both && p.ours;
    if (!p.ours && !p.published && !p.simulated) p.ours = true;  // a place for what is to come
    return p;
}

ordered_json maybe(bool has, double v) { return has ? ordered_json(v) : ordered_json(nullptr); }

/// What is simulated, as data: apart from our numbers under every name.
void add_simulated(ordered_json& j, const ResolvedCell& place) {
    j["simulated"] = maybe(place.ours.has_value(), place.ours ? place.ours->median / size_of(*place.measure) : 0);
    j["simulated_status"] = place.ours ? to_text(TrialStatus::ok) : place.placeholder();
    j["simulated_on"] = place.cells.empty() ? "" : place.cells.front()->simulated;
    j["simulated_ratio"] = maybe(place.ratio().has_value(), place.ratio().value_or(0));
    j["simulated_fitted"] = place.fitted;
    j["simulated_remarks"] = fmt::format("{}", fmt::join(place.remarks, "; "));
}

ordered_json record_of(const TableLine& row, const TableLine& column, const ResolvedCell& place, bool best) {
    const double size = size_of(*place.measure);
    const bool ours = place.ours.has_value();
    ordered_json j{
        {"row", row.name}, {"column", column.name}, {"metric", place.measure->metric}, {"unit", unit_of(place)}};
    j["ours"] = maybe(ours, ours ? place.ours->median / size : 0);
    const bool interval = ours && place.ours->has_interval();
    j["ours_low"] = maybe(interval, interval ? place.ours->low / size : 0);
    j["ours_high"] = maybe(interval, interval ? place.ours->high / size : 0);
    j["trials"] = ours ? place.ours->trials : 0;
    j["status"] = ours ? to_text(TrialStatus::ok) : place.verdict.empty() ? place.word : place.verdict;
    if (!place.given)
        j["published"] = nullptr;
    else if (place.published)
        j["published"] =
            *place.published /
            (place.measure->metric.empty() || place.other_kind() ? find_unit(place.given->unit)->size : size);
    else
        j["published"] = place.given->text;
    j["ratio"] = place.ratio() ? ordered_json(*place.ratio()) : ordered_json(nullptr);
    j["best"] = best;
    j["page"] = place.given ? place.given->page : "";
    j["verbatim"] = place.given ? place.given->verbatim : "";
    j["erratum"] = place.given ? place.given->erratum : "";
    j["remarks"] = fmt::format("{}", fmt::join(place.remarks, "; "));
    j["provenance"] = fmt::format("{}", fmt::join(place.provenance, "; "));
    return j;
}

/// The column with the best of our numbers, if it beats another.
std::optional<std::size_t> best_of(const std::vector<ResolvedCell>& row, Best best) {
    std::optional<std::size_t> found;
    int numbers = 0;
    for (std::size_t c = 0; c < row.size() && best != Best::none; ++c) {
        // Seconds and speed-ups are not compared.
        if (!row[c].ours || (found && unit_of(row[c]) != unit_of(row[*found]))) continue;
        ++numbers;
        const double v = row[c].ours->median;
        if (!found || (best == Best::lowest ? v < row[*found].ours->median : v > row[*found].ours->median))
            found = c;
    }
    return numbers >= 2 ? found : std::nullopt;
}

constexpr const char* fitted_note =
    "no prediction: the machine's constants were fitted to the published number of this cell or of its baseline";

/// Puts places into cells.
class Filler {
public:
    Filler(const ResolvedTable& r, Footnotes& notes, UnitPlace units)
        : r_(r), t_(*r.definition), notes_(notes), units_(units), remarks_(table_remarks(r)) {}

    /// `best`, `best_predicted`: of our numbers in the row, and of the simulated ones.
    Table::Cell cell(std::size_t row, std::size_t column, const ColumnParts& parts, bool best,
                     bool best_predicted) {
        const ResolvedCell& place = r_.cells[row][column];
        Table::Cell cell;
        if (parts.ours) cell.fields.push_back(ours(place, remarks_.ours.marks[row][column], best));
        if (parts.simulated) {
            const ResolvedCell& predicted = *r_.simulated_at(row, column);
            cell.fields.push_back(ours(predicted, remarks_.simulated.marks[row][column], best_predicted));
            if (predicted.fitted && predicted.ours) cell.fields.back().marks.push_back(notes_.mark(fitted_note));
        }
        if (parts.published) cell.fields.push_back(published(place, remarks_.published.marks[row][column]));
        if (parts.ratio) cell.fields.push_back({.text = place.ratio() ? gnnbench::ratio(*place.ratio()) : ""});
        if (parts.simulated_ratio) {
            const ResolvedCell& predicted = *r_.simulated_at(row, column);
            const auto quotient = predicted.ratio();
            cell.fields.push_back({.text = quotient ? gnnbench::ratio(*quotient) : ""});
            if (predicted.fitted && quotient) cell.fields.back().marks.push_back(notes_.mark(fitted_note));
        }
        if (std::all_of(cell.fields.begin(), cell.fields.end(), [](const auto& f) { return f.empty(); }))
            cell.fields.clear();
        return cell;
    }

private:
    Table::Field ours(const ResolvedCell& place, const std::vector<std::string>& remarks, bool best) {
        Table::Field f;
        f.best = best;
        if (place.ours) {
            f.text = shown_number(place.ours->median, *place.measure);
            if (units_ == UnitPlace::number) f.text += unit_text(place);
            if (place.ours->shows_interval() && place.ours->high > place.ours->low)
                f.spread = shown_number(place.ours->low, *place.measure) + "–" +
                           shown_number(place.ours->high, *place.measure);
        } else if (!place.verdict.empty()) {
            f.word = true;
            f.text = place.verdict;
        } else if (!place.word.empty()) {
            f.word = true;
            f.text = t_.failures == FailureStyle::word ? place.word : t_.failures == FailureStyle::dash ? "–" : "";
        }
        for (const std::string& text : remarks) f.marks.push_back(notes_.mark(text));
        return f;
    }

    Table::Field published(const ResolvedCell& place, const std::vector<std::string>& errata) {
        Table::Field f;
        if (!place.given) return f;
        f.text = shown_published(place);
        if (units_ == UnitPlace::number) f.text += unit_text(place);
        for (const std::string& text : errata) f.marks.push_back(notes_.mark("paper: " + text));
        return f;
    }

    static std::string unit_text(const ResolvedCell& place) {
        const std::string unit = unit_of(place);
        return unit.empty() ? "" : " " + unit;
    }

    const ResolvedTable& r_;
    const TableDefinition& t_;
    Footnotes& notes_;
    UnitPlace units_;
    TableRemarks remarks_;
};

void put_legend(Table& table, const ResolvedTable& r, UnitPlace units, const std::vector<ColumnParts>& parts) {
    const bool ratio = std::ranges::any_of(parts, &ColumnParts::ratio);
    std::string unit;
    if (units == UnitPlace::table) {
        unit =
            unit_among(r.cells.size() * r.definition->columns.size(), [&](std::size_t i) -> const ResolvedCell& {
                return r.cells[i / r.definition->columns.size()][i % r.definition->columns.size()];
            });
    }
    const auto add = [](std::string& all, const std::string& part) { all += (all.empty() ? "" : "; ") + part; };
    if (!unit.empty()) add(table.legend, "numbers in " + unit);
    table.cell_legend = table.legend;
    if (ratio) {
        add(table.legend, "ratio: ours ÷ paper, in the paper's setting");
        add(table.cell_legend, "a cell: ours · the paper's · ours ÷ the paper's, in the paper's setting");
    }
    if (std::ranges::any_of(parts, &ColumnParts::simulated_ratio)) {
        const char* quotient = "SIMULATED ÷ paper: on graphs as large as the paper's";
        add(table.legend, quotient);
        add(table.cell_legend, quotient);
    }
    if (r.definition->best != Best::none && r.definition->show_ours) {
        const char* which = r.definition->best == Best::lowest ? "the lowest" : "the highest";
        const char* too = r.simulated.empty() ? "" : ", and of SIMULATED,";
        add(table.legend, fmt::format("{} of ours{} in each row with *", which, too));
        add(table.cell_legend, fmt::format("bold: {} of ours{} in its row", which, too));
    }
}

std::string titled(const TableLine& line, const std::string& unit, bool with_section) {
    std::string text = with_section && !line.section.empty() ? line.section + ": " + line.label : line.label;
    if (!unit.empty()) text += " (" + unit + ")";
    return text;
}

/// A group of the table for each column of the definition.
std::vector<ColumnParts> add_groups(Table& table, const ResolvedTable& r, UnitPlace units) {
    const TableDefinition& t = *r.definition;
    std::vector<ColumnParts> parts;
    for (std::size_t c = 0; c < t.columns.size(); ++c) {
        parts.push_back(parts_of(r, c));
        const std::string unit =
            units != UnitPlace::column
                ? ""
                : unit_among(t.rows.size(), [&](std::size_t i) -> const ResolvedCell& { return r.cells[i][c]; });
        Table::Group group{titled(t.columns[c], unit, true), {}};
        if (parts[c].ours) group.parts.push_back({"ours"});
        if (parts[c].simulated) group.parts.push_back({"SIMULATED", "SIMULATED "});
        if (parts[c].published) group.parts.push_back({"paper", "paper "});
        if (parts[c].ratio) group.parts.push_back({"ratio", "", "×"});
        if (parts[c].simulated_ratio) group.parts.push_back({"SIM. ÷ paper", "SIMULATED ÷ paper ", "×"});
        table.groups.push_back(std::move(group));
    }
    return parts;
}

}  // namespace

Table paper_table(const ResolvedTable& r) {
    const TableDefinition& t = *r.definition;
    const UnitPlace units = unit_place(r);
    Table table;
    table.name = t.name;
    table.heading = paper_heading(r);
    table.nothing = "the table has no rows";
    table.keys = {{t.row_head, true}};
    const std::vector<ColumnParts> parts = add_groups(table, r, units);
    put_legend(table, r, units, parts);
    Footnotes notes;
    Filler filler(r, notes, units);
    for (std::size_t i = 0; i < t.rows.size(); ++i) {
        const auto best = best_of(r.cells[i], t.best);
        const auto best_predicted = r.simulated.empty() ? std::nullopt : best_of(r.simulated[i], t.best);
        const std::string unit =
            units != UnitPlace::row ? "" : unit_among(t.columns.size(), [&](std::size_t c) -> const ResolvedCell& {
                return r.cells[i][c];
            });
        Table::Row& row = table.rows.emplace_back();
        row.section = t.rows[i].section;
        row.keys = {titled(t.rows[i], unit, false)};
        for (std::size_t c = 0; c < t.columns.size(); ++c) {
            row.cells.push_back(filler.cell(i, c, parts[c], best == c, best_predicted == c));
            row.cells.back().record = record_of(t.rows[i], t.columns[c], r.cells[i][c], best == c);
            if (const ResolvedCell* predicted = r.simulated_at(i, c))
                add_simulated(row.cells.back().record, *predicted);
        }
    }
    table.notes = notes.notes();
    table.about = {{"table", t.name},
                   {"title", t.title},
                   {"source", t.source},
                   {"profile", r.profile},
                   {"experiments", r.measured->experiments},
                   {"machine", r.measured->machine},
                   {"kernels", r.measured->kernels},
                   {"missing", t.missing}};
    return table;
}

std::string shown_number(double value, const Measure& m) {
    const double shown = value / size_of(m);
    if (m.decimals) return fixed(shown, *m.decimals);
    if (m.against == Against::speed_up_over || m.against == Against::relative_to) return ratio(shown);
    const Metric* metric = find_metric(m.metric);
    const bool counts = metric && metric->unit.empty() && metric->kind == MetricKind::data;
    if (counts && shown == std::floor(shown)) return fixed(shown, 0);  // 41 classes, not 41.0
    return three_digits(shown);
}

std::string unit_of(const ResolvedCell& place) {
    if (!place.measure->metric.empty() && !place.other_kind()) return place.measure->unit;
    return place.given ? place.given->unit : "";
}

std::string shown_published(const ResolvedCell& place) {
    const Published& given = *place.given;
    // As the paper writes it, unless it has to be converted.
    if (!given.value || place.measure->metric.empty() || place.other_kind() || given.unit == unit_of(place))
        return given.text;
    const double shown = *place.published / size_of(*place.measure);
    return three_digits(shown);
}

}  // namespace gnnbench
