#include "report/resolved_table.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "report/remarks.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

bool fits(const ComparisonCell& cell, const Conditions& where) {
    return std::all_of(where.begin(), where.end(), [&](const Condition& c) {
        const auto field = cell.fields.find(c.field);
        return field != cell.fields.end() &&
               std::find(c.values.begin(), c.values.end(), field->second) != c.values.end();
    });
}

std::vector<const ComparisonCell*> fitting(const MeasuredCells& measured, const Conditions& where) {
    std::vector<const ComparisonCell*> found;
    for (const ComparisonCell& cell : measured.cells)
        if (fits(cell, where)) found.push_back(&cell);
    return found;
}

/// The same place but for the base's fields.
Conditions elsewhere(Conditions where, const Conditions& base) {
    for (const Condition& b : base) std::erase_if(where, [&](const Condition& c) { return c.field == b.field; });
    where.insert(where.end(), base.begin(), base.end());
    return where;
}

/// Reads and combines numbers of cells.
class Combiner {
public:
    Combiner(const MeasuredCells& measured, const ReadMetric& read) : measured_(measured), read_(read) {}

    void fill(ResolvedCell& place, const Conditions& where) const {
        const Measure& m = *place.measure;
        place.ours = value(place, m, where);
        if (!place.ours || m.against == Against::nothing) return;
        ResolvedCell base = place;
        base.cells.clear();
        const auto other = value(base, m, elsewhere(where, m.base));
        const double ours = place.ours->median;
        place.ours.reset();
        place.word = base.word;
        place.remarks.clear();
        if (!other || ours == 0 || other->median == 0) return;
        place.remarks = std::move(base.remarks);
        place.cells.insert(place.cells.end(), base.cells.begin(), base.cells.end());
        const double ratio = m.against == Against::speed_up_over ? other->median / ours : ours / other->median;
        place.ours = Estimate{.trials = other->trials, .median = ratio, .low = ratio, .high = ratio};
    }

private:
    std::optional<Estimate> of_cell(const ComparisonCell& cell, const std::string& metric) const {
        std::vector<double> values;
        for (const std::int64_t trial : cell.ok_trials)
            if (const auto v = read_(trial, metric)) values.push_back(*v);
        return values.empty() ? std::nullopt : std::optional(estimate(values));
    }

    static double combined(OverCells how, const std::vector<double>& values) {
        switch (how) {
            case OverCells::minimum:
                return *std::min_element(values.begin(), values.end());
            case OverCells::maximum:
                return *std::max_element(values.begin(), values.end());
            case OverCells::mean:
                return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
            case OverCells::median:
            case OverCells::only:
                break;
        }
        return median(values);
    }

    void remark(ResolvedCell& place, const ComparisonCell& cell, MetricKind kind) const {
        for (const std::string& text : remarks_on(cell, kind))
            if (std::find(place.remarks.begin(), place.remarks.end(), text) == place.remarks.end())
                place.remarks.push_back(text);
    }

    std::optional<Estimate> value(ResolvedCell& place, const Measure& m, const Conditions& where) const {
        auto found = fitting(measured_, where);
        // What was never tried stands in nobody's way.
        std::erase_if(found, [](const ComparisonCell* c) { return c->status.empty(); });
        if (found.empty()) return std::nullopt;
        const Metric* metric = find_metric(m.metric);
        const MetricKind kind = metric ? metric->kind : MetricKind::time;
        // Cells of one graph that differ in scheme or gpus say the same of the graph.
        if (kind == MetricKind::data)
            if (const auto ok =
                    std::find_if(found.begin(), found.end(), [](const auto* c) { return !c->ok_trials.empty(); });
                ok != found.end())
                found = {*ok};
        if (found.size() > 1 && m.over_cells == OverCells::only) {
            place.remarks.push_back(
                fmt::format("{} cells fit this place, of which {} and {}: its `where` has to tell them apart",
                            found.size(), name(*found[0]), name(*found[1])));
            return std::nullopt;
        }
        std::vector<double> values;
        std::optional<Estimate> last;
        for (const ComparisonCell* cell : found) {
            const auto one = of_cell(*cell, m.metric);
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

    static std::string name(const ComparisonCell& c) {
        return fmt::format("{} {} {} on {} gpus", c.dataset, c.scheme, c.partitioner, c.gpus);
    }

    const MeasuredCells& measured_;
    const ReadMetric& read_;
};

Conditions joined(const Conditions& a, const Conditions& b, const Conditions& c) {
    Conditions all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    return all;
}

}  // namespace

std::optional<double> ResolvedCell::ratio() const {
    if (!ours || !published || *published == 0) return std::nullopt;
    return ours->median / *published;
}

double size_of(const Measure& measure) {
    if (measure.against != Against::nothing) return 1;
    const ShownUnit* unit = find_unit(measure.unit);
    return unit ? unit->size : 1;
}

ResolvedTable resolve(const TableDefinition& t, const MeasuredCells& measured, const std::string& profile,
                      const ReadMetric& read) {
    const Combiner combiner(measured, read);
    ResolvedTable r{&t, &measured, profile, {}};
    for (const TableLine& row : t.rows) {
        auto& line = r.cells.emplace_back();
        for (const TableLine& column : t.columns) {
            ResolvedCell& place = line.emplace_back();
            place.measure = column.measure ? &*column.measure : row.measure ? &*row.measure : &t.measure;
            if (const auto given = t.published.find({row.name, column.name}); given != t.published.end()) {
                place.given = &given->second;
                const ShownUnit* unit = find_unit(place.given->unit);
                if (place.given->value) place.published = *place.given->value * (unit ? unit->size : 1);
            }
            const Conditions where = joined(t.where, row.where, column.where);
            place.measurable = row.measured && column.measured && !where.empty() && !place.measure->metric.empty();
            if (place.measurable) combiner.fill(place, where);
        }
    }
    return r;
}

}  // namespace gnnbench
