#include "report/resolved_table.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "report/cell_numbers.hpp"
#include "report/derived.hpp"
#include "report/paper_setting.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

Conditions joined(const Conditions& a, const Conditions& b, const Conditions& c) {
    Conditions all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    return all;
}

bool begins_with(const Conditions& where, const std::string& field, const std::string& value) {
    return std::ranges::any_of(where, [&](const Condition& c) {
        return c.field == field && !c.values.empty() && c.values.front() == value;
    });
}

/// A command's count is used where no trial has a number.
void place_counted(ResolvedCell& place, const Counted& counted) {
    place.measurable = true;
    if (place.ours) return;
    place.counted = true;
    place.papers_setting = begins_with(place.where, "dataset", counted.dataset) &&
                           (counted.gpus.empty() || begins_with(place.where, "gpus", counted.gpus));
    const ShownUnit* unit = find_unit(counted.unit);
    const double value = counted.value * (unit ? unit->size : 1);
    place.ours = Estimate{.trials = 1, .median = value, .low = value, .high = value};
    place.remarks = {fmt::format("{}; counted on {} by `{}`{}", counted.of, counted.date, counted.command,
                                 counted.commit.empty() ? "" : ", commit " + counted.commit)};
}

}  // namespace

bool ResolvedCell::other_kind() const {
    if (!published || measure->metric.empty()) return false;
    const ShownUnit* own = find_unit(measure->unit);
    const ShownUnit* theirs = find_unit(given->unit);
    return own && theirs && own->of != theirs->of;
}

std::optional<double> ResolvedCell::ratio() const {
    if (!papers_setting || other_kind()) return std::nullopt;
    if (!ours || !published || *published == 0) return std::nullopt;
    return ours->median / *published;
}

double size_of(const Measure& measure) {
    const ShownUnit* unit = find_unit(measure.unit);
    return unit ? unit->size : 1;
}

namespace {

/// A place's number among some cells, and the paper's.
ResolvedCell resolved_place(const TableDefinition& t, const TableLine& row, const TableLine& column,
                            const CellNumbers& numbers) {
    ResolvedCell place;
    place.measure = &t.measure_of(row, column);
    if (const auto given = t.published.find({row.name, column.name}); given != t.published.end()) {
        place.given = &given->second;
        const ShownUnit* unit = find_unit(place.given->unit);
        if (place.given->value) place.published = *place.given->value * (unit ? unit->size : 1);
    }
    place.where = joined(t.where, row.where, column.where);
    place.measurable = row.measured && column.measured && !place.where.empty() && !place.measure->metric.empty();
    if (!place.measurable) return place;
    fill(place, numbers, place.where);
    std::ranges::copy_if(place.cells, std::back_inserter(place.own),
                         [&](const ComparisonCell* cell) { return numbers.fits(*cell, place.where); });
    return place;
}

/// Adds the sizes of a place's graphs.
void note_vertices(std::map<std::string, double>& vertices, const ResolvedCell& place, const ReadMetric& read) {
    Measure count;
    count.metric = "vertices";
    for (const ComparisonCell* cell : place.cells) {
        const std::string dataset = field_text(cell->fields, "dataset");
        if (dataset.empty() || vertices.contains(dataset)) continue;
        if (const auto v = read(cell->ok_trials.front(), count)) vertices[dataset] = *v;
    }
}

}  // namespace

ResolvedTable resolve(const TableDefinition& t, const MeasuredCells& measured, const std::string& profile,
                      const ReadMetric& read, const MeasuredCells* simulations) {
    ResolvedTable r{&t, &measured, profile, {}, {}, {}, simulations, {}};
    const CellNumbers numbers(t, measured, read);
    for (const TableLine& row : t.rows) {
        auto& line = r.cells.emplace_back();
        for (const TableLine& column : t.columns) {
            ResolvedCell& place = line.emplace_back(resolved_place(t, row, column, numbers));
            place.papers_setting = is_papers_setting(place);
            place.papers_graph = has_papers_graph(place);
            place.unlike_paper = fields_unlike_paper(place);
            note_vertices(r.vertices, place, read);
            if (const auto one = t.counted.find({row.name, column.name}); one != t.counted.end())
                place_counted(place, one->second);
        }
    }
    if (!simulations || simulations->cells.empty()) return r;
    const CellNumbers predicted(t, *simulations, read);
    for (const TableLine& row : t.rows) {
        auto& line = r.simulated.emplace_back();
        for (const TableLine& column : t.columns) {
            ResolvedCell& place = line.emplace_back(resolved_place(t, row, column, predicted));
            note_vertices(r.simulated_vertices, place, read);
            place.fitted =
                !t.fitted_to.empty() && std::ranges::any_of(place.cells, [&](const ComparisonCell* cell) {
                    return predicted.fits(*cell, t.fitted_to);
                });
        }
    }
    // A cell that did not fit has no count of its vertices; another one of its graph has.
    for (auto& line : r.simulated)
        for (ResolvedCell& place : line) {
            place.papers_setting = is_of_papers_size(place, r);
            place.papers_graph = has_graph_of_papers_size(place, r);
            place.unlike_paper = fields_unlike_paper(place);
        }
    return r;
}

}  // namespace gnnbench
