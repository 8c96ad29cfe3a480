#include "report/derived.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/scaling.hpp"

namespace gnnbench {
namespace {

/// Whether a condition is on one of the fields that `other` names, or on a parameter of a plugin that it names.
bool is_on(const Condition& c, const Conditions& other) {
    return std::ranges::any_of(other, [&](const Condition& o) {
        return c.field == o.field || c.field == o.field + "_label" || c.field.starts_with(o.field + ".");
    });
}

Conditions without(Conditions where, const Conditions& other) {
    std::erase_if(where, [&](const Condition& c) { return is_on(c, other); });
    return where;
}

/// The same place but for the base's fields.
Conditions rebased(const Conditions& where, const Conditions& base) {
    Conditions all = without(where, base);
    all.insert(all.end(), base.begin(), base.end());
    return all;
}

void remark(ResolvedCell& place, const std::string& text) {
    if (std::find(place.remarks.begin(), place.remarks.end(), text) == place.remarks.end())
        place.remarks.push_back(text);
}

/// Copies the remarks of another place's number.
void inherit(ResolvedCell& place, const ResolvedCell& other) {
    for (const std::string& text : other.remarks) remark(place, text);
    place.provenance.insert(place.provenance.end(), other.provenance.begin(), other.provenance.end());
    place.cells.insert(place.cells.end(), other.cells.begin(), other.cells.end());
    place.incomplete |= other.incomplete;
}

/// Why there is no number if the base has none.
void explain_by_base(ResolvedCell& place, const ResolvedCell& base) {
    place.word = base.word;
    for (const std::string& text : base.remarks) remark(place, "its baseline: " + text);
}

Estimate exactly(double value, std::int64_t trials) {
    return {.trials = trials, .median = value, .low = value, .high = value};
}

/// The quotient's, if the intervals of both sides hold.
Estimate quotient(const Estimate& a, const Estimate& b) {
    const std::int64_t trials = std::min(a.trials, b.trials);
    if (!(a.low > 0 && b.low > 0)) return exactly(a.median / b.median, trials);
    return {.trials = trials, .median = a.median / b.median, .low = a.low / b.high, .high = a.high / b.low};
}

/// A quotient without each draw; a side that is no mean over draws stays whole. Empty where the sides are over other draws.
WithoutDraw quotient(const ResolvedCell& a, const ResolvedCell& b) {
    WithoutDraw without;
    if (!a.without.empty() && !b.without.empty() &&
        !std::ranges::equal(a.without | std::views::keys, b.without | std::views::keys))
        return without;
    for (const auto& [seed, value] : a.without.empty() ? b.without : a.without)
        without[seed] = (a.without.empty() ? a.ours->median : a.without.at(seed)) /
                        (b.without.empty() ? b.ours->median : b.without.at(seed));
    return without;
}

/// `change` of an estimate, which may fall as its argument grows; empty where it has no value.
template <class Change>
std::optional<Estimate> changed(const Estimate& e, Change&& change) {
    const std::optional<double> median = change(e.median), one = change(e.low), other = change(e.high);
    if (!median || !one || !other) return std::nullopt;
    return Estimate{
        .trials = e.trials, .median = *median, .low = std::min(*one, *other), .high = std::max(*one, *other)};
}

/// The cells' number of devices, if it is the same; else 0.
int devices(const ResolvedCell& place) {
    for (const ComparisonCell* c : place.cells)
        if (c->gpus != place.cells.front()->gpus) return 0;
    return place.cells.empty() ? 0 : place.cells.front()->gpus;
}

/// On CPUs a device is a share of the cores, by default a smaller one the more ranks there are.
void remark_on_threads(ResolvedCell& place, const ResolvedCell& ours, const ResolvedCell& base) {
    const auto threads = [](const ResolvedCell& p) {
        return field_text(p.cells.front()->fields, "threads_per_rank");
    };
    if (threads(ours) != threads(base))
        remark(place,
               fmt::format("devices differ: threads_per_rank {} compared with {}", threads(ours), threads(base)));
}

/// Speed-up and quantities derived from it; `base` has a number too.
void fill_ratio(ResolvedCell& place, const ResolvedCell& ours, const ResolvedCell& base) {
    const Against against = place.measure->against;
    const Estimate speed_up = quotient(*base.ours, *ours.ours);
    std::optional<Estimate> value;
    WithoutDraw without;
    if (against == Against::speed_up_over) value = speed_up, without = quotient(base, ours);
    if (against == Against::relative_to) value = quotient(*ours.ours, *base.ours), without = quotient(ours, base);
    if (against == Against::efficiency_over || against == Against::karp_flatt_over) {
        const int p = devices(ours), p0 = devices(base);
        if (p == 0 || p0 == 0) {
            remark(place, "cells with different numbers of devices have no efficiency");
            return;
        }
        const double times = static_cast<double>(p) / p0;
        value = changed(speed_up, [&](double s) -> std::optional<double> {
            return against == Against::efficiency_over ? efficiency(s, times) : karp_flatt(s, times);
        });
    }
    if (!value) return;
    inherit(place, ours);
    inherit(place, base);
    if (against == Against::efficiency_over || against == Against::karp_flatt_over)
        remark_on_threads(place, ours, base);
    place.ours = without.empty() ? *value : with_errors(*value, without);
    place.without = std::move(without);
}

/// Partitioning before the first epoch, set against shorter epochs.
void fill_payback(ResolvedCell& place, const CellNumbers& numbers, const Conditions& where, ResolvedCell& ours,
                  ResolvedCell& base) {
    Measure before = *place.measure;
    before.metric = "partition_s";
    ResolvedCell a, b;
    const auto cost = numbers.of(a, before, where), base_cost = numbers.of(b, before, rebased(where, before.base));
    if (!cost || !base_cost) return;
    inherit(place, ours);
    inherit(place, base);
    const auto epochs = payback_epochs(cost->median - base_cost->median, base.ours->median - ours.ours->median);
    if (epochs)
        place.ours = exactly(*epochs, std::min(ours.ours->trials, base.ours->trials));
    else
        place.verdict = "never";
}

void fill_overtaking(ResolvedCell& place, const CellNumbers& numbers, const Conditions& where) {
    const Measure& m = *place.measure;
    const Conditions ours_at = without(where, {{"gpus", {}}}), other_at = rebased(ours_at, m.base);
    std::vector<CurvePoint> points;
    std::vector<ResolvedCell> under;  // each point's cells
    std::int64_t trials = 0;
    for (const int gpus : numbers.gpus(ours_at)) {
        const Conditions here{{"gpus", {std::to_string(gpus)}}};
        ResolvedCell both;
        const auto ours = numbers.of(both, m, rebased(ours_at, here));
        const auto other = numbers.of(both, m, rebased(other_at, here));
        if (!ours || !other || ours->median <= 0 || other->median <= 0) continue;
        points.push_back({static_cast<double>(gpus), ours->median, other->median});
        under.push_back(std::move(both));
        trials = std::min({trials == 0 ? ours->trials : trials, ours->trials, other->trials});
    }
    const Crossover c = crossover(points);
    using Kind = Crossover::Kind;
    if (c.kind == Kind::unknown) return;
    const bool crosses = c.kind == Kind::overtakes || c.kind == Kind::falls_behind;
    for (std::size_t i = 0; i < under.size(); ++i)
        if (!crosses || i == c.before || i == c.after) inherit(place, under[i]);
    if (!crosses) {
        place.verdict = c.kind == Kind::always ? "always" : "never";
        return;
    }
    place.ours = exactly(c.at, trials);
    if (c.interpolated)
        remark(place,
               "interpolated: straight lines between measured numbers of devices, in logarithms of both axes");
    if (c.kind == Kind::falls_behind) remark(place, "ahead below that number, behind above it");
    if (c.times > 1) remark(place, fmt::format("the first of {} crossings", c.times));
}

}  // namespace

void fill(ResolvedCell& place, const CellNumbers& numbers, const Conditions& where) {
    const Measure& m = *place.measure;
    if (m.against == Against::nothing) {
        place.ours = numbers.of(place, m, where);
        return;
    }
    if (m.against == Against::overtakes) return fill_overtaking(place, numbers, where);
    const Conditions base_at = rebased(where, m.base);
    // Of several graphs, those that both sides have a number of.
    std::optional<std::set<std::string>> graphs;
    if (m.over_cells != OverCells::only) {
        const std::set<std::string> a = numbers.graphs(m, where), b = numbers.graphs(m, base_at);
        std::set<std::string>& both = graphs.emplace();
        std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
        if (both.empty()) graphs.reset();  // one side says why it has none
    }
    ResolvedCell ours, base;
    ours.ours = numbers.of(ours, m, where, graphs ? &*graphs : nullptr);
    if (!ours.ours) {
        place.word = ours.word;
        place.ended = ours.ended;
        return inherit(place, ours);
    }
    base.ours = numbers.of(base, m, base_at, graphs ? &*graphs : nullptr);
    if (!base.ours) return explain_by_base(place, base);
    if (ours.ours->median == 0 || base.ours->median == 0) return;
    if (m.against == Against::pays_back_over) return fill_payback(place, numbers, where, ours, base);
    fill_ratio(place, ours, base);
}

}  // namespace gnnbench
