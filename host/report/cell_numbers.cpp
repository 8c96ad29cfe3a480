#include "report/cell_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "report/remarks.hpp"
#include "spec/fields.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

/// The expressions in a table's conditions.
std::set<std::string> expressions_of(const TableDefinition& t) {
    std::set<std::string> all;
    const auto add = [&](const Conditions& where) {
        for (const Condition& c : where)
            if (!c.expression.empty()) all.insert(c.expression);
    };
    add(t.where);
    add(t.fitted_to);
    for (const auto* lines : {&t.rows, &t.columns})
        for (const TableLine& line : *lines) add(line.where);
    return all;
}

/// Fields that expressions may name whether a measured cell has them or not.
std::vector<std::string> names_in(const std::set<std::string>& expressions) {
    constexpr std::string_view of_names = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
    std::vector<std::string> names;
    for (ChoosableField& f : choosable_fields()) names.push_back(std::move(f.name));
    for (const std::string& e : expressions)
        for (std::size_t at = e.find_first_of(of_names); at != e.npos; at = e.find_first_of(of_names, at)) {
            const std::size_t end = std::min(e.find_first_not_of(of_names, at), e.size());
            if (std::string word = e.substr(at, end - at); is_choosable(word)) names.push_back(std::move(word));
            at = end;
        }
    return names;
}

bool has_value(const ComparisonCell& cell, const Condition& c) {
    const auto field = cell.fields.find(c.field);
    if (field == cell.fields.end()) return c.or_none;
    return std::ranges::find(c.values, text_of(field->second)) != c.values.end();
}

void add_new(std::vector<std::string>& all, const std::vector<std::string>& more) {
    for (const std::string& text : more)
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
}

void remark(ResolvedCell& place, const ComparisonCell& cell, MetricKind kind) {
    add_new(place.remarks, remarks_on(cell, kind));
    if (kind != MetricKind::data && kind != MetricKind::partition) add_new(place.provenance, provenance_of(cell));
}

/// What tells graphs of one name apart, such as samples by their seed.
std::string graph_of(const ComparisonCell& cell) {
    std::string graph;
    for (const auto& [field, value] : cell.fields)
        if (field == "dataset" || (field.starts_with("dataset.") && field != "dataset.split"))
            graph += field + "=" + text_of(value) + "\n";
    return graph;
}

bool has_ended_well(const ComparisonCell* c) { return !c->ok_trials.empty(); }

std::string name(const ComparisonCell& c) {
    return fmt::format("{} {} {} on {} gpus", c.dataset, c.scheme, c.partitioner, c.gpus);
}

}  // namespace

double combined(OverCells how, const std::vector<double>& values) {
    switch (how) {
        case OverCells::minimum:
            return *std::min_element(values.begin(), values.end());
        case OverCells::maximum:
            return *std::max_element(values.begin(), values.end());
        case OverCells::mean:
            return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
        case OverCells::geometric_mean: {
            double logs = 0;
            for (const double v : values) logs += std::log(v);
            return std::exp(logs / static_cast<double>(values.size()));
        }
        case OverCells::median:
        case OverCells::only:
            break;
    }
    return median(values);
}

CellNumbers::CellNumbers(const TableDefinition& definition, const MeasuredCells& measured, const ReadMetric& read)
    : measured_(measured), read_(read) {
    const std::set<std::string> expressions = expressions_of(definition);
    if (expressions.empty()) return;
    std::vector<CellFields> fields;
    for (const ComparisonCell& cell : measured.cells) fields.push_back(cell.fields);
    const CellFilter filter(fields, names_in(expressions));
    for (const std::string& expression : expressions) {
        std::set<const ComparisonCell*>& those = holds_[expression];
        const std::vector<bool> chosen = filter.where(expression);
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (chosen[i]) those.insert(&measured.cells[i]);
    }
}

bool CellNumbers::fits(const ComparisonCell& cell, const Conditions& where) const {
    return std::ranges::all_of(where, [&](const Condition& c) {
        return c.expression.empty() ? has_value(cell, c) : holds_.at(c.expression).contains(&cell);
    });
}

std::vector<const ComparisonCell*> CellNumbers::fitting(const Conditions& where) const {
    std::vector<const ComparisonCell*> found;
    for (const ComparisonCell& cell : measured_.cells)
        if (fits(cell, where)) found.push_back(&cell);
    return found;
}

namespace {

bool differ_in_seed_alone(const std::vector<const ComparisonCell*>& cells) {
    const auto others = [](const ComparisonCell* cell) {
        CellFields fields = cell->fields;
        fields.erase("seed");
        return fields;
    };
    return std::ranges::all_of(cells, [&](const ComparisonCell* c) { return others(c) == others(cells.front()); });
}

/// Several draws of one cell, without intervals of their own, are a sample: the mean without each of them.
WithoutDraw without_each(const std::vector<const ComparisonCell*>& cells, const std::vector<Estimate>& values,
                         double mean) {
    WithoutDraw without;
    if (values.size() < 3 || std::ranges::any_of(values, &Estimate::has_interval)) return without;
    const auto n = static_cast<double>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        without[field_text(cells[i]->fields, "seed")] = mean + (mean - values[i].median) / (n - 1);
    return without;
}

}  // namespace

std::optional<Estimate> CellNumbers::of_cell(const ComparisonCell& cell, const Measure& measure) const {
    std::vector<double> values;
    for (const std::int64_t trial : cell.ok_trials)
        if (const auto v = read_(trial, measure)) values.push_back(*v);
    return values.empty() ? std::nullopt : std::optional(estimate(values));
}

std::optional<Estimate> CellNumbers::of(ResolvedCell& place, const Measure& m, const Conditions& where,
                                        const std::set<std::string>* graphs) const {
    auto found = fitting(where);
    const std::size_t all = found.size();
    // Cells that were never tried do not make a place ambiguous.
    std::erase_if(
        found, [&](const ComparisonCell* c) { return !c->status || (graphs && !graphs->contains(graph_of(*c))); });
    if (found.empty()) return std::nullopt;
    const Metric* metric = find_metric(m.metric);
    const MetricKind kind = metric ? metric->kind : MetricKind::time;
    // Cells of one graph agree on graph metrics, even if scheme or gpus differ.
    if (kind == MetricKind::data && std::ranges::any_of(found, &has_ended_well)) {
        std::set<std::string> seen;
        std::erase_if(found, [&](const ComparisonCell* c) {
            return !has_ended_well(c) || !seen.insert(graph_of(*c)).second;
        });
    }
    if (found.size() > 1 && m.over_cells == OverCells::only) {
        place.remarks.push_back(
            fmt::format("{} cells match this place, among them {} and {}: its `where` must distinguish them",
                        found.size(), name(*found[0]), name(*found[1])));
        return std::nullopt;
    }
    std::vector<Estimate> values;
    std::vector<const ComparisonCell*> numbered;
    for (const ComparisonCell* cell : found) {
        const auto one = of_cell(*cell, m);
        if (!one) continue;
        remark(place, *cell, kind);
        place.cells.push_back(cell);
        numbered.push_back(cell);
        values.push_back(*one);
    }
    if (values.empty()) {
        place.ended = found;
        place.word = status_word(*found.front());
        remark(place, *found.front(), kind);
        return std::nullopt;
    }
    const bool combines = m.over_cells != OverCells::only && kind != MetricKind::data;
    if (combines && values.size() < all) {
        place.incomplete = true;
        place.remarks.push_back(fmt::format("{} of {} cells have no number", all - values.size(), all));
    }
    if (values.size() == 1) return values.front();
    const auto over = [&](double Estimate::* member) {
        std::vector<double> numbers;
        for (const Estimate& e : values) numbers.push_back(e.*member);
        return combined(m.over_cells, numbers);
    };
    Estimate all_together{.trials = std::ranges::min(values, {}, &Estimate::trials).trials,
                          .median = over(&Estimate::median),
                          .low = over(&Estimate::low),
                          .high = over(&Estimate::high)};
    if (m.over_cells == OverCells::mean && differ_in_seed_alone(numbered))
        place.without = without_each(numbered, values, all_together.median);
    return place.without.empty() ? all_together : with_errors(all_together, place.without);
}

std::set<std::string> CellNumbers::graphs(const Measure& measure, const Conditions& where) const {
    std::set<std::string> all;
    for (const ComparisonCell* cell : fitting(where))
        if (of_cell(*cell, measure)) all.insert(graph_of(*cell));
    return all;
}

std::vector<int> CellNumbers::gpus(const Conditions& where) const {
    std::set<int> all;
    for (const ComparisonCell* cell : fitting(where))
        if (!cell->ok_trials.empty()) all.insert(cell->gpus);
    return {all.begin(), all.end()};
}

}  // namespace gnnbench
