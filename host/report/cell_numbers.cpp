#include "report/cell_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "report/remarks.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

std::vector<const ComparisonCell*> fitting(const MeasuredCells& measured, const Conditions& where) {
    std::vector<const ComparisonCell*> found;
    for (const ComparisonCell& cell : measured.cells)
        if (fits(cell, where)) found.push_back(&cell);
    return found;
}

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

void add_new(std::vector<std::string>& all, const std::vector<std::string>& more) {
    for (const std::string& text : more)
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
}

void remark(ResolvedCell& place, const ComparisonCell& cell, MetricKind kind) {
    add_new(place.remarks, remarks_on(cell, kind));
    if (kind != MetricKind::data && kind != MetricKind::partition) add_new(place.provenance, provenance_of(cell));
}

std::string name(const ComparisonCell& c) {
    return fmt::format("{} {} {} on {} gpus", c.dataset, c.scheme, c.partitioner, c.gpus);
}

}  // namespace

bool fits(const ComparisonCell& cell, const Conditions& where) {
    return std::all_of(where.begin(), where.end(), [&](const Condition& c) {
        const auto field = cell.fields.find(c.field);
        return field != cell.fields.end() &&
               std::find(c.values.begin(), c.values.end(), field->second) != c.values.end();
    });
}

std::optional<Estimate> CellNumbers::of_cell(const ComparisonCell& cell, const Measure& measure) const {
    std::vector<double> values;
    for (const std::int64_t trial : cell.ok_trials)
        if (const auto v = read_(trial, measure)) values.push_back(*v);
    return values.empty() ? std::nullopt : std::optional(estimate(values));
}

std::optional<Estimate> CellNumbers::of(ResolvedCell& place, const Measure& m, const Conditions& where) const {
    auto found = fitting(measured_, where);
    // Cells that were never tried do not make a place ambiguous.
    std::erase_if(found, [](const ComparisonCell* c) { return !c->status; });
    if (found.empty()) return std::nullopt;
    const Metric* metric = find_metric(m.metric);
    const MetricKind kind = metric ? metric->kind : MetricKind::time;
    // Cells of one graph agree on graph metrics, even if scheme or gpus differ.
    if (kind == MetricKind::data)
        if (const auto ok =
                std::find_if(found.begin(), found.end(), [](const auto* c) { return !c->ok_trials.empty(); });
            ok != found.end())
            found = {*ok};
    if (found.size() > 1 && m.over_cells == OverCells::only) {
        place.remarks.push_back(
            fmt::format("{} cells match this place, among them {} and {}: its `where` must distinguish them",
                        found.size(), name(*found[0]), name(*found[1])));
        return std::nullopt;
    }
    std::vector<double> values;
    std::optional<Estimate> last;
    for (const ComparisonCell* cell : found) {
        const auto one = of_cell(*cell, m);
        if (!one) continue;
        remark(place, *cell, kind);
        place.cells.push_back(cell);
        values.push_back(one->median);
        last = one;
    }
    if (values.empty()) {
        place.word = status_word(*found.front());
        remark(place, *found.front(), kind);
        return std::nullopt;
    }
    if (found.size() == 1) return last;
    if (values.size() < found.size())
        place.remarks.push_back(
            fmt::format("{} of {} cells have no number", found.size() - values.size(), found.size()));
    const double v = combined(m.over_cells, values);
    return Estimate{.trials = static_cast<std::int64_t>(values.size()), .median = v, .low = v, .high = v};
}

std::vector<int> CellNumbers::gpus(const Conditions& where) const {
    std::set<int> all;
    for (const ComparisonCell* cell : fitting(measured_, where))
        if (!cell->ok_trials.empty()) all.insert(cell->gpus);
    return {all.begin(), all.end()};
}

}  // namespace gnnbench
