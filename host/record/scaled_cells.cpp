#include "record/scaled_cells.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "core/plural.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

std::optional<double> number(const ComparisonCell& cell, const std::string& field) {
    const auto found = cell.fields.find(field);
    if (found == cell.fields.end()) return std::nullopt;
    if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&found->second)) return *real;
    return std::nullopt;
}

/// What the datasets of a series have in common: everything but the size, of which the share of one GPU counts, and names,
/// which may tell the size.
std::string series_of(const ComparisonCell& cell, const std::string& per) {
    const std::string grown = "dataset." + per;
    const auto size = number(cell, grown);
    if (!size) return cell.dataset;
    std::string key = fmt::format("{:.12g}", *size / cell.gpus);
    for (const auto& [field, value] : cell.fields)
        if (field.starts_with("dataset.") && field != grown && field != "dataset.name")
            key += fmt::format("\n{}={}", field, text_of(value));
    return key;
}

using Line = std::tuple<std::string, std::vector<std::string>>;  ///< a series, and the other fields

/// The cell that a weakly scaled one is compared with; nullptr if none was measured.
const ComparisonCell* base_of(const ComparisonCell& cell, const std::vector<const ComparisonCell*>& line) {
    const ComparisonCell* base = nullptr;
    for (const ComparisonCell* other : line) {
        const bool serial = other->scheme_name == "serial" && other->gpus == 1;
        const bool itself = other->scheme == cell.scheme &&
                            (other->partitioner == cell.partitioner || other->partitioner == "none");
        if (!serial && !itself) continue;
        const auto preference = [](const ComparisonCell& c) {
            return std::pair(!(c.scheme_name == "serial" && c.gpus == 1), c.gpus);
        };
        if (!base || preference(*other) < preference(*base)) base = other;
    }
    return base;
}

void add_weak_efficiencies(ComparisonData& data) {
    std::map<Line, std::vector<const ComparisonCell*>> lines;
    for (const ComparisonCell& cell : data.cells)
        if (cell.epoch_s) lines[{cell.dataset, cell.others}].push_back(&cell);
    for (ComparisonCell& cell : data.cells) {
        cell.speed_up.reset();
        if (!cell.epoch_s) continue;
        if (const ComparisonCell* base = base_of(cell, lines[{cell.dataset, cell.others}]))
            cell.efficiency = base->epoch_s->median / cell.epoch_s->median;
    }
}

}  // namespace

ScalingAxis declared_scaling(const sqlite::Connection& connection, std::int64_t experiment) {
    auto q = connection.prepare("SELECT scaling FROM experiment WHERE id = ?", "read how an experiment scales");
    q.bind(experiment);
    return q.step() ? scaling_axis(q.text(0)) : ScalingAxis();
}

void name_series(ComparisonData& data) {
    if (!data.scaling.weak()) return;
    std::map<std::string, const ComparisonCell*> smallest;
    std::vector<std::string> series;
    for (const ComparisonCell& cell : data.cells) {
        series.push_back(series_of(cell, data.scaling.per));
        const ComparisonCell*& first = smallest[series.back()];
        if (!first || cell.gpus < first->gpus) first = &cell;
    }
    std::map<std::string, std::string> names;
    for (const auto& [key, cell] : smallest)
        names[key] =
            fmt::format("{} on {}, {} × gpus", cell->dataset, plural(cell->gpus, "gpu"), data.scaling.per);
    for (std::size_t i = 0; i < series.size(); ++i) data.cells[i].dataset = names[series[i]];
}

void add_efficiencies(ComparisonData& data) {
    if (data.scaling.weak()) return add_weak_efficiencies(data);
    if (data.scaling.kind == ScalingAxis::Kind::none) return;
    for (ComparisonCell& cell : data.cells)
        if (cell.speed_up && cell.epoch_s)
            cell.efficiency = cell.speed_up->value * cell.speed_up->base_gpus / cell.gpus;
}

}  // namespace gnnbench
