#include "report/paper_setting.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/cell_numbers.hpp"
#include "report/units.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

/// The condition of a place on a field; nullptr: none.
const Condition* condition_on(const Conditions& where, std::string_view field) {
    const auto found = std::ranges::find(where, field, &Condition::field);
    return found == where.end() || found->values.empty() ? nullptr : &*found;
}

/// Fields of the setting that a number of this kind depends on.
std::vector<std::string> setting_fields(const Measure& m) {
    const Metric* metric = find_metric(m.metric);
    const MetricKind kind = metric ? metric->kind : MetricKind::time;
    if (kind == MetricKind::data) return {"dataset"};
    const bool quotient_of_volumes = kind == MetricKind::volume && m.against != Against::nothing;
    if (kind == MetricKind::partition || quotient_of_volumes) return {"dataset", "gpus"};
    return {"dataset", "model.hidden", "gpus"};
}

std::string first_width(const std::string& hidden) { return hidden.substr(0, hidden.find(',')); }

/// Whether a cell has the paper's value of a field. If `where` also names the number of layers, the first hidden width
/// determines the others.
bool is_papers_value(const ResolvedCell& place, const std::string& field, const std::string& value) {
    const Condition* c = condition_on(place.where, field);
    if (!c) return false;
    if (field == "model.hidden" && condition_on(place.where, "model.depth"))
        return first_width(value) == first_width(c->values.front());
    return value == c->values.front();
}

/// By what its trials noted, or by where it comes from if they ended before they did.
bool has_synthetic_graph(const ComparisonCell& cell) {
    return cell.synthetic.find("graph") != std::string::npos || cell.fields.contains("dataset.generate");
}

/// "4, 8 for 512": ours, and the paper's where `where` has it.
struct Pairs {
    std::set<std::string> ours, papers;
    std::string text() const {
        return papers.size() > 3 ? fmt::format("{}", fmt::join(ours, ", "))
                                 : fmt::format("{} for {}", fmt::join(ours, ", "), fmt::join(papers, ", "));
    }
};

std::string share(double part) { return part >= 0.995 ? "all" : "1/" + fixed(1 / part, 0); }

/// "graphs with 1/200 to 1/10 of the vertices"; the name of a dataset whose size is not known.
std::string scale_of(const ResolvedTable& r, const std::map<std::string, std::string>& paper_of) {
    double least = 1, most = 0;
    for (const auto& [ours, paper] : paper_of) {
        const auto there = r.definition->vertices.find(paper);
        const auto here = r.vertices.find(ours);
        if (there == r.definition->vertices.end() || here == r.vertices.end() || there->second <= 0) continue;
        least = std::min(least, here->second / there->second);
        most = std::max(most, here->second / there->second);
    }
    if (most == 0)
        return fmt::format("other graph{} ({})", paper_of.size() == 1 ? "" : "s", paper_of.begin()->first);
    if (share(least) == "all")
        return fmt::format("made-up graph{} as large as the paper's", paper_of.size() == 1 ? "" : "s");
    if (share(least) == share(most))
        return fmt::format("graph{} with {} of the vertices", paper_of.size() == 1 ? "" : "s", share(least));
    return fmt::format("graphs with {} to {} of the vertices", share(least), share(most));
}

}  // namespace

std::vector<std::string> fields_unlike_paper(const ResolvedCell& place) {
    std::vector<std::string> fields = setting_fields(*place.measure);
    std::erase_if(fields, [&](const std::string& field) {
        return std::ranges::all_of(place.setting(), [&](const ComparisonCell* cell) {
            return is_papers_value(place, field, field_text(cell->fields, field));
        });
    });
    return fields;
}

namespace {

/// Those of a comparison's both sides, or those that ended without a number.
const std::vector<const ComparisonCell*>& cells_behind(const ResolvedCell& place) {
    return place.cells.empty() ? place.ended : place.cells;
}

}  // namespace

bool has_papers_graph(const ResolvedCell& place) {
    return std::ranges::none_of(cells_behind(place), [](const ComparisonCell* c) {
        return !c->simulated.empty() || has_synthetic_graph(*c);
    });
}

namespace {

/// `vertices`: of the graphs that the place's numbers are of.
bool has_graph_as_large(const ResolvedCell& place, const ResolvedTable& r,
                        const std::map<std::string, double>& vertices) {
    return std::ranges::all_of(cells_behind(place), [&](const ComparisonCell* c) {
        // Of one that ran out of memory before its graph was known, the others of that graph tell its size; an expected
        // graph has the size of its profile, which is the paper's, unless it says another.
        const bool expected = c->fields.contains("dataset.expect") && !c->fields.contains("dataset.vertices");
        if (!has_synthetic_graph(*c) && (c->epoch_s || expected)) return true;
        const std::string name = field_text(c->fields, "dataset");
        const auto there = r.definition->vertices.find(name), here = vertices.find(name);
        if (there == r.definition->vertices.end() || here == vertices.end()) return false;
        return std::abs(here->second / there->second - 1) <= 0.05;
    });
}

}  // namespace

bool has_graph_of_papers_size(const ResolvedCell& place, const ResolvedTable& r) {
    return has_graph_as_large(place, r, r.simulated_vertices);
}

bool has_measured_graph_of_papers_size(const ResolvedCell& place, const ResolvedTable& r) {
    return has_graph_as_large(place, r, r.vertices);
}

bool is_papers_setting(const ResolvedCell& place) {
    if (place.counted) return false;  // checked where it is placed
    return !place.setting().empty() && fields_unlike_paper(place).empty() && has_papers_graph(place);
}

bool is_of_papers_size(const ResolvedCell& place, const ResolvedTable& r) {
    return !place.setting().empty() && fields_unlike_paper(place).empty() && has_graph_of_papers_size(place, r);
}

std::string setting_differences(const ResolvedTable& r) {
    std::map<std::string, std::string> scaled;  // our dataset → the paper's
    Pairs hidden, gpus;
    bool both = false, times = false, synthetic = false;
    // Of tables of ours nothing is said; a paper's figure may have no number that can be read off.
    const TableDefinition& t = *r.definition;
    if (t.device.empty() && (!t.show_published || t.published.empty())) return "";
    for (const auto& row : r.cells)
        for (const ResolvedCell& place : row) {
            if (!place.ours || place.counted) continue;  // a count says itself what it is of
            both = true;
            const auto fields = setting_fields(*place.measure);
            times |= fields.size() == 3;
            for (const ComparisonCell* cell : place.own)
                for (const std::string& field : fields) {
                    const Condition* c = condition_on(place.where, field);
                    const std::string value = field_text(cell->fields, field);
                    if (field == "dataset") synthetic |= has_synthetic_graph(*cell);
                    if (!c || is_papers_value(place, field, value)) continue;
                    if (field == "dataset") scaled.emplace(value, c->values.front());
                    Pairs* pairs = field == "model.hidden" ? &hidden : field == "gpus" ? &gpus : nullptr;
                    if (pairs) pairs->ours.insert(value), pairs->papers.insert(c->values.front());
                }
        }
    if (!both) return "";
    std::vector<std::string> parts;
    if (!scaled.empty())
        parts.push_back(scale_of(r, scaled));
    else if (synthetic)
        parts.emplace_back("a synthetic graph");
    if (!hidden.ours.empty()) parts.push_back("hidden widths " + hidden.text());
    if (!gpus.ours.empty()) parts.push_back("ranks " + gpus.text());
    if (times && !r.definition->device.empty())
        parts.push_back(fmt::format("kernel {}, not {}", r.measured->kernels, r.definition->device));
    return parts.empty() ? "" : fmt::format("ours is not the paper's setting: {}", fmt::join(parts, "; "));
}

}  // namespace gnnbench
