#include <algorithm>

#include <fmt/format.h>

#include "report/comparison_record.hpp"
#include "report/format.hpp"
#include "report/layout.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

using Field = Table::Field;
using Part = Table::Part;

std::string baseline_words(const ComparisonLayout& t) {
    if (t.over_serial && t.over_itself)
        return "over serial on 1 gpu (where it was not measured, over the same scheme and partitioner on the "
               "fewest gpus)";
    return t.over_serial ? "over serial on 1 gpu" : "over the same scheme and partitioner on the fewest gpus";
}

/// One column of a scheme: what it is called, and what it shows of a cell that has a time.
struct Column {
    Part part;
    Field (*show)(const PlacedCell&, const Unit&);
    Unit unit;
};

Field show_time(const PlacedCell& p, const Unit& unit) {
    const Estimate& e = *p.cell->epoch_s;
    const double value = e.median / unit.size;
    Field f{.text = three_digits(value), .spread = "", .marks = p.marks, .best = p.fastest};
    if (e.shows_interval()) f.spread = interval(e.low / unit.size, e.high / unit.size);
    return f;
}

Field show_speed_up(const PlacedCell& p, const Unit&) {
    return {.text = p.speed_up ? ratio(*p.speed_up) : "", .spread = "", .marks = p.speed_up_marks};
}

Field show_efficiency(const PlacedCell& p, const Unit&) {
    return {.text = p.efficiency ? ratio(*p.efficiency) : "", .spread = "", .marks = {}};
}

/// What an efficiency of 1 would be.
std::string efficiency_words(const ScalingAxis& scaling) {
    if (!scaling.weak()) return "parallel efficiency, speed-up ÷ (gpus ÷ gpus of its base)";
    return fmt::format(
        "weak efficiency, time of the base ÷ time, as {} grow with gpus; base: serial on 1 gpu, or else the "
        "same scheme on its fewest",
        scaling.per);
}

Field show_volume(const PlacedCell& p, const Unit& unit) {
    return {.text = p.cell->sent_bytes_per_epoch ? in_unit(*p.cell->sent_bytes_per_epoch, unit) : ""};
}

Field show_score(const PlacedCell& p, const Unit&) {
    return {.text = p.cell->test_score ? fixed(100 * *p.cell->test_score, 1) : ""};
}

/// "test accuracy", "test micro-F1", or both, where datasets differ.
std::string score_words(const ComparisonLayout& t) {
    if (t.score_metrics.size() == 1) return "test " + *t.score_metrics.begin();
    return "test accuracy, or micro-F1 where vertices have several labels";
}

/// Columns under a scheme; volume only where the scheme moves bytes.
std::vector<Column> columns_of(const ComparisonLayout& t, std::size_t scheme) {
    const Unit time = time_unit(t.largest_s), bytes = byte_unit(t.largest_bytes);
    const bool moves_bytes = std::any_of(t.rows.begin(), t.rows.end(), [scheme](const ComparisonRow& row) {
        const PlacedCell& p = row.cells[scheme];
        return p.has_time() && p.cell->sent_bytes_per_epoch.value_or(0) > 0;
    });
    std::vector<Column> all{{{std::string(time.name), "", fmt::format(" {}", time.name)}, show_time, time}};
    if (t.has_speed_up) all.push_back({{"×", "", "×"}, show_speed_up, {}});
    if (t.has_efficiency) all.push_back({{"eff", "", "eff"}, show_efficiency, {}});
    if (moves_bytes)
        all.push_back({{std::string(bytes.name), "", fmt::format(" {}", bytes.name)}, show_volume, bytes});
    if (!t.score_metrics.empty()) all.push_back({{"%", "", "%"}, show_score, {}});
    return all;
}

Table::Cell cell_of(const ComparisonData& data, const ComparisonRow& row, const std::string& scheme,
                    const PlacedCell& p, const std::vector<Column>& columns) {
    Table::Cell cell;
    if (p.cell) cell.record = comparison_record(data, row, scheme, p);
    if (p.has_time())
        for (const Column& c : columns) cell.fields.push_back(c.show(p, c.unit));
    else if (const std::string word = p.status_word(); !word.empty() || !p.marks.empty())
        cell.fields.push_back({.text = word, .spread = "", .marks = p.marks, .best = false, .word = true});
    return cell;
}

void explain_marks(Table& table, const ComparisonLayout& t, const ScalingAxis& scaling) {
    if (t.most_trials == 0) return;
    const Unit time = time_unit(t.largest_s), bytes = byte_unit(t.largest_bytes);
    bool fastest = false;
    for (const ComparisonRow& row : t.rows)
        fastest |= std::any_of(row.cells.begin(), row.cells.end(), [](const PlacedCell& p) { return p.fastest; });
    table.legend = fmt::format("columns: {} per epoch", time.name);
    if (fastest) table.legend += ", * the fastest in its row, where intervals decide";
    table.cell_legend = "a cell: time per epoch";
    if (t.has_speed_up) {
        table.legend += "; × speed-up " + baseline_words(t);
        table.cell_legend += " · speed-up " + baseline_words(t);
    }
    if (t.has_efficiency) {
        table.legend += "; eff " + efficiency_words(scaling);
        table.cell_legend += " · " + efficiency_words(scaling);
    }
    if (t.has_volume) {
        table.legend += fmt::format("; {} payload sent per epoch by all ranks", bytes.name);
        table.cell_legend += " · payload sent per epoch, all ranks";
    }
    if (!t.score_metrics.empty()) {
        table.legend += fmt::format("; % {}, median of trials", score_words(t));
        table.cell_legend += " · " + score_words(t);
    }
    table.cell_legend += "; bold: fastest in its row, where intervals decide";
}

}  // namespace

Table comparison_table(const ComparisonData& data) {
    const ComparisonLayout t = make_layout(data);
    Table table;
    table.name = data.experiment;
    table.heading = heading(data, t);
    table.nothing = "the experiment has no cells";
    table.section_name = "dataset";
    table.keys = {{"gpus", false}, {"partitioner", true, 24}};
    for (const std::string& key : data.other_keys) table.keys.push_back({key, true, 16});
    explain_marks(table, t, data.scaling);
    std::vector<std::vector<Column>> columns;
    for (std::size_t s = 0; s < t.schemes.size(); ++s) {
        columns.push_back(columns_of(t, s));
        table.groups.push_back({t.schemes[s], {}});
        for (const Column& c : columns.back()) table.groups.back().parts.push_back(c.part);
    }
    for (const ComparisonRow& row : t.rows) {
        Table::Row& line = table.rows.emplace_back();
        line.section = row.dataset;
        line.keys = {fmt::format("{}", row.gpus), row.partitioner};
        line.keys.insert(line.keys.end(), row.others.begin(), row.others.end());
        for (std::size_t s = 0; s < t.schemes.size(); ++s)
            line.cells.push_back(cell_of(data, row, t.schemes[s], row.cells[s], columns[s]));
    }
    table.notes = t.notes.notes();
    table.about = {{"experiment", data.experiment},
                   {"machine", data.machine},
                   {"other_machines", data.other_machines},
                   {"trials", data.trials},
                   {"borrowed_trials", data.borrowed},
                   {"borrowed_from", data.lenders},
                   {"awaiting_rerun", data.awaiting_rerun},
                   {"timed_trials", data.timed},
                   {"noisy_trials", data.noisy},
                   {"highest_load", data.highest_load},
                   {"kernels", data.kernels},
                   {"threads_per_rank", {data.fewest_threads, data.most_threads}},
                   {"epochs", data.epochs},
                   {"warmup", data.warmup},
                   {"speed_up", t.has_speed_up ? baseline_words(t) : ""},
                   {"scaling", to_text(data.scaling)}};
    return table;
}

}  // namespace gnnbench
