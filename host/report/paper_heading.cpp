#include "report/paper_heading.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/alike_remarks.hpp"
#include "report/figure_data.hpp"
#include "report/paper_setting.hpp"
#include "report/paper_table.hpp"

namespace gnnbench {
namespace {

std::vector<RemarkedLine> names_of(const std::vector<TableLine>& lines) {
    std::vector<RemarkedLine> all;
    for (const TableLine& line : lines) all.push_back({line.section, line.label});
    return all;
}

RemarkedPlace remarked(const ResolvedCell& place) {
    return {place.ours.has_value(), !place.word.empty() || !place.verdict.empty(), place.remarks};
}

RemarkedPlace erratum_of(const ResolvedCell& place) {
    RemarkedPlace p;
    p.has_number = place.given != nullptr;
    if (place.given && !place.given->erratum.empty()) p.remarks.push_back(place.given->erratum);
    return p;
}

/// Remarks on a simulated place, without what the heading and the word OOM already say. The data formats have all.
RemarkedPlace remarked_simulation(const ResolvedCell& place) {
    RemarkedPlace p = remarked(place);
    std::erase_if(p.remarks, [](const std::string& text) {
        return text.starts_with("SIMULATED on ") ||
               text.find("oom: the device has no memory") != std::string::npos;
    });
    return p;
}

using Places = std::vector<std::vector<RemarkedPlace>>;

template <class Of>
Places places_of(const std::vector<std::vector<ResolvedCell>>& cells, const Of& of) {
    Places places;
    for (const auto& row : cells) {
        auto& line = places.emplace_back();
        for (const ResolvedCell& place : row) line.push_back(of(place));
    }
    return places;
}

Places with_alike_as_one(Places places) {
    AlikeRemarks alike;
    for (const auto& row : places)
        for (const RemarkedPlace& place : row)
            for (const std::string& text : place.remarks) alike.add(text);
    for (auto& row : places)
        for (RemarkedPlace& place : row)
            for (std::string& text : place.remarks) text = alike.of(text);
    return places;
}

RemarkGroups grouped(const ResolvedTable& r, const Places& places, const char* whose) {
    if (places.empty()) return {};
    return grouped_remarks(places, names_of(r.definition->rows), names_of(r.definition->columns),
                           r.definition->row_head, whose);
}

/// Which machines are simulated; empty if no place shows such a number.
std::string simulated_line(const ResolvedTable& r) {
    std::set<std::string> machines;
    for (const auto& row : r.simulated)
        for (const ResolvedCell& place : row)
            for (const ComparisonCell* cell : place.cells) machines.insert(cell->simulated);
    if (machines.empty()) return "";
    return fmt::format("SIMULATED on {}: predicted by a model, not measured and not verified; profile {}: {}",
                       fmt::join(machines, ", "), simulated_profile, fmt::join(r.simulations->experiments, ", "));
}

}  // namespace

TableRemarks table_remarks(const ResolvedTable& r) {
    return {grouped(r, with_alike_as_one(places_of(r.cells, remarked)), "ours"),
            grouped(r, with_alike_as_one(places_of(r.simulated, remarked_simulation)), "the simulated ones"),
            grouped(r, places_of(r.cells, erratum_of), "the paper's")};
}

std::vector<std::string> remarks_on_figure(const ResolvedTable& r) {
    const RemarkGroups groups = table_remarks(r).ours;
    const std::string unit = axis_unit(r);
    std::string oversubscribed;
    int those = 0, numbers = 0;
    for (std::size_t i = 0; i < r.cells.size(); ++i)
        for (std::size_t c = 0; c < r.cells[i].size(); ++c) {
            const ResolvedCell& place = r.cells[i][c];
            if (!place.ours || unit_of(place) != unit) continue;  // not drawn
            ++numbers;
            for (const std::string& text : groups.marks[i][c])
                if (text.starts_with("oversubscribed")) ++those, oversubscribed = text;
        }
    if (those == 0) return {};
    return {fmt::format("{} of our {} numbers: {}", those, numbers, oversubscribed)};
}

std::vector<std::string> paper_heading(const ResolvedTable& r) {
    const TableDefinition& t = *r.definition;
    std::vector<std::string> lines{t.title + " (" + t.source + ")"};
    bool any = false;
    for (const auto& row : r.cells)
        for (const ResolvedCell& place : row) any |= place.ours.has_value() && !place.counted;
    if (!t.experiments.empty()) {
        std::string ours = "ours: ";
        if (any)
            ours += r.measured->machine + "; kernel " + r.measured->kernels + "; ";
        else
            ours += "nothing measured yet; ";
        const auto experiments = any                                   ? r.measured->experiments
                                 : !r.missing_runs.experiments.empty() ? r.missing_runs.experiments
                                                                       : under_profile(t.experiments, r.profile);
        const std::string profile = r.profile.empty() ? "" : fmt::format("profile {}: ", r.profile);
        lines.push_back(ours + profile + fmt::format("{}", fmt::join(experiments, ", ")));
        if (!any && !r.missing_runs.commands.empty())
            lines.push_back(fmt::format("to measure it: {}", fmt::join(r.missing_runs.commands, "; ")));
        if (r.measured->other_machines > 0) lines.push_back("trials of other machines are not shown");
    }
    if (std::string differs = setting_differences(r); !differs.empty()) lines.push_back(std::move(differs));
    const TableRemarks remarks = table_remarks(r);
    if (std::string simulated = simulated_line(r); !simulated.empty()) lines.push_back(std::move(simulated));
    for (const RemarkGroups* groups : {&remarks.ours, &remarks.simulated, &remarks.published})
        lines.insert(lines.end(), groups->lines.begin(), groups->lines.end());
    for (const std::string& note : t.notes) lines.push_back(note);
    if (!t.missing.empty()) lines.push_back("missing: " + t.missing);
    return lines;
}

}  // namespace gnnbench
