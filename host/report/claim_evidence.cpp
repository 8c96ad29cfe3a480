#include "report/claim_evidence.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

MetricKind kind_of(const ResolvedCell& place) {
    const Metric* metric = find_metric(place.measure->metric);
    return metric ? metric->kind : MetricKind::time;
}

/// Whether a place is of the paper's setting, but for fields that the paper leaves open.
bool is_of_setting(const ResolvedCell& place, const PaperClaim& claim) {
    if (place.papers_setting) return true;
    return !place.setting().empty() && place.papers_graph && !place.counted &&
           std::ranges::all_of(place.unlike_paper, [&](const std::string& field) {
               return std::ranges::find(claim.unstated, field) != claim.unstated.end();
           });
}

/// What a simulated number that is not of the paper's setting is of.
std::string other_setting(const ResolvedCell& place, const PaperClaim& claim) {
    std::vector<std::string> fields;
    for (const std::string& field : place.unlike_paper)
        if (std::ranges::find(claim.unstated, field) == claim.unstated.end()) fields.push_back(field);
    if (!place.papers_graph || fields.empty()) return "simulated at another size than the paper's";
    return fmt::format("simulated with {} that the paper does not have, or does not state",
                       fmt::join(fields, ", "));
}

/// The same of a single number.
std::string why_not(const ResolvedCell& place, const PaperClaim& claim, EvidenceKind kind) {
    for (const ComparisonCell* cell : place.cells) {
        if (cell->verification.status == VerificationStatus::failed) return "a cell failed its verification";
        if (cell->volume_differs) return "a cell's counted bytes are not the stated ones";
    }
    if (place.incomplete) return "some of the cells that a number combines have none";
    if (kind == EvidenceKind::simulated) return is_of_setting(place, claim) ? "" : other_setting(place, claim);
    for (const auto* cells : {&place.cells, &place.ended})
        for (const ComparisonCell* cell : *cells)
            if (!cell->simulated.empty()) return "simulated, and not measured";
    const bool may_be_scaled = std::ranges::find(claim.settings, ClaimSetting::scaled) != claim.settings.end();
    if (!is_of_setting(place, claim) && !may_be_scaled) return "measured in another setting than the paper's";
    if (kind_of(place) != MetricKind::time || place.counted) return "";
    for (const ComparisonCell* cell : place.cells)
        if (cell->oversubscribed) return "measured with more ranks than cores";
    if (place.ours && place.ours->trials < 3) return "measured in fewer than three trials";
    return "";
}

/// Times of different numbers of ranks on CPUs, which are different shares of the same cores.
bool compares_shares_of_a_machine(const Numbers& numbers) {
    std::set<int> gpus;
    for (const ResolvedCell* place : numbers)
        if (kind_of(*place) == MetricKind::time && !place->counted)
            for (const ComparisonCell* cell : place->cells)
                if (cell->simulated.empty() && field_text(cell->fields, "kernel") != "cuda")
                    gpus.insert(cell->gpus);
    return gpus.size() > 1;
}

}  // namespace

std::string why_no_evidence(const Numbers& numbers, const PaperClaim& claim, EvidenceKind kind) {
    for (const ResolvedCell* place : numbers)
        if (std::string why = why_not(*place, claim, kind); !why.empty()) return why;
    if (kind == EvidenceKind::measured && compares_shares_of_a_machine(numbers))
        return "times of different numbers of ranks on one machine's cores";
    return "";
}

std::string setting_text(const Numbers& numbers, const PaperClaim& claim, EvidenceKind kind) {
    std::set<std::string> machines, assumed;
    bool scaled = false, counted = false;
    for (const ResolvedCell* place : numbers) {
        scaled |= !is_of_setting(*place, claim);
        if (!place->papers_setting && is_of_setting(*place, claim))
            for (const std::string& field : place->unlike_paper)
                for (const ComparisonCell* cell : place->setting())
                    assumed.insert(fmt::format("{} {}", field, field_text(cell->fields, field)));
        counted |= place->counted;
        for (const auto* cells : {&place->cells, &place->ended})
            for (const ComparisonCell* cell : *cells)
                if (!cell->simulated.empty()) machines.insert(cell->simulated);
    }
    const std::string with =
        assumed.empty() ? "" : fmt::format(", with {}, which the paper does not state", fmt::join(assumed, ", "));
    if (kind == EvidenceKind::simulated) return fmt::format("SIMULATED on {}{}", fmt::join(machines, ", "), with);
    return (scaled ? "scaled" : counted ? "counted" : "paper's setting") + with;
}

}  // namespace gnnbench
