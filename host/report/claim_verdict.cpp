#include "report/claim_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/cell_filter.hpp"
#include "report/paper_table.hpp"
#include "report/units.hpp"
#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

/// Numbers of one name, place by place.
using Numbers = std::vector<const ResolvedCell*>;

struct Outcome {
    Ruling ruling = Ruling::reproduced;
    std::string ours, why;
};

/// The one of several that counts.
Outcome worst(std::span<const Outcome> outcomes) {
    Outcome all;
    for (const Outcome& one : outcomes) {
        if (!one.ours.empty()) all.ours += (all.ours.empty() ? "" : "; ") + one.ours;
        if (one.ruling > all.ruling) all.ruling = one.ruling, all.why.clear();
        if (one.ruling == all.ruling && all.why.empty()) all.why = one.why;
    }
    return all;
}

Outcome undecided(std::string why) { return {Ruling::undecided, "", std::move(why)}; }

/// Whether a number is off by a factor of 2 at most. Of ratios what exceeds 1 is compared: 1.1 is a tenth of a speed-up of 2.
bool is_within_2(double ours, double claimed, bool is_ratio) {
    double quotient = ours / claimed;
    if (is_ratio && claimed != 1) {
        const double gain = claimed > 1 ? ours - 1 : 1 / ours - 1,
                     stated = claimed > 1 ? claimed - 1 : 1 / claimed - 1;
        quotient = gain / stated;
    }
    return quotient >= 0.5 && quotient <= 2;
}

/// How a place's number compares with what is claimed of it.
Ruling against(double ours, double claimed, double within, bool is_ratio) {
    if (claimed == 0) return ours == 0 ? Ruling::reproduced : Ruling::contradicted;
    if (!is_within_2(ours, claimed, is_ratio)) return Ruling::contradicted;
    return std::abs(ours / claimed - 1) <= within * (1 + 1e-12) ? Ruling::reproduced : Ruling::within_2;
}

MetricKind kind_of(const ResolvedCell& place) {
    const Metric* metric = find_metric(place.measure->metric);
    return metric ? metric->kind : MetricKind::time;
}

bool is_ratio(const ResolvedCell& place) { return place.measure->unit == "×"; }

std::string text_of(const ResolvedCell& place) {
    if (!place.ours) return place.placeholder();
    const std::string unit = unit_of(place);
    return shown_number(place.ours->median, *place.measure) + (unit.empty() ? "" : " " + unit);
}

std::string text_of(const Numbers& numbers) {
    std::vector<std::string> all;
    for (const ResolvedCell* place : numbers) all.push_back(text_of(*place));
    return fmt::format("{}", fmt::join(all, ", "));
}

/// Whether a place is of the paper's setting, but for fields that the paper leaves open.
bool is_of_setting(const ResolvedCell& place, const PaperClaim& claim) {
    if (place.papers_setting) return true;
    return !place.setting().empty() && place.papers_graph && !place.counted &&
           std::ranges::all_of(place.unlike_paper, [&](const std::string& field) {
               return std::ranges::find(claim.unstated, field) != claim.unstated.end();
           });
}

/// Why a number that there is cannot decide anything; empty if it can.
std::string why_no_evidence(const ResolvedCell& place, const PaperClaim& claim, EvidenceKind kind) {
    for (const ComparisonCell* cell : place.cells) {
        if (cell->verification.status == VerificationStatus::failed) return "a cell failed its verification";
        if (cell->volume_differs) return "a cell's counted bytes are not the stated ones";
    }
    if (kind == EvidenceKind::simulated)
        return is_of_setting(place, claim) ? "" : "simulated at another size than the paper's";
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

std::string settings_of(const Numbers& numbers, const PaperClaim& claim, EvidenceKind kind) {
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

/// Judges one claim by numbers of one kind.
class Judge {
public:
    Judge(const PaperClaim& claim, const FindPlace& find, EvidenceKind kind) : claim_(claim), kind_(kind) {
        for (const auto& [name, places] : claim.numbers)
            for (const std::string& row : places.rows)
                for (const std::string& column : places.columns)
                    numbers_[name].push_back(find(places.table, row, column, kind));
    }

    ClaimVerdict verdict() {
        ClaimVerdict v;
        Numbers all;
        std::size_t without = 0, places = 0;
        std::string first;
        for (const auto& [name, numbers] : numbers_)
            for (const ResolvedCell* place : numbers) {
                ++places;
                if (place && place->shows()) {
                    all.push_back(place);
                    continue;
                }
                ++without;
                if (first.empty()) first = reason_of(place);
            }
        if (all.empty()) {
            v.why = "never run";
            return v;
        }
        v.places = all;
        v.setting = settings_of(all, claim_, kind_);
        if (without > 0) {
            v.why =
                fmt::format("{} of {} numbers are missing{}", without, places, first.empty() ? "" : ": " + first);
            return v;
        }
        for (const ResolvedCell* place : all)
            if (v.why = why_no_evidence(*place, claim_, kind_); !v.why.empty()) return v;
        if (kind_ == EvidenceKind::measured && compares_shares_of_a_machine(all)) {
            v.why = "times of different numbers of ranks on one machine's cores";
            return v;
        }
        const Outcome outcome = judged();
        const bool fitted = std::ranges::any_of(all, &ResolvedCell::fitted) && outcome.ruling != Ruling::undecided;
        v.ruling = fitted ? Ruling::fitted : outcome.ruling;
        v.ours = outcome.ours;
        v.why = outcome.why;
        return v;
    }

private:
    static std::string reason_of(const ResolvedCell* place) {
        if (!place || place->remarks.empty()) return "";
        return place->remarks.front();
    }

    Outcome judged() {
        std::vector<Outcome> all;
        if (!claim_.value.empty()) all.push_back(compared());
        if (!claim_.matches.empty()) all.push_back(matched());
        if (!claim_.order.empty()) all.push_back(ordered());
        if (!claim_.rises.empty()) all.push_back(monotone(claim_.rises, true));
        if (!claim_.falls.empty()) all.push_back(monotone(claim_.falls, false));
        if (!claim_.runs.empty()) all.push_back(ended(claim_.runs, false));
        if (!claim_.out_of_memory.empty()) all.push_back(ended(claim_.out_of_memory, true));
        return worst(all);
    }

    /// The i-th of a name's places; the only one, where there is one.
    const ResolvedCell& at(const std::string& name, std::size_t i) const {
        const Numbers& numbers = numbers_.at(name);
        return *numbers[numbers.size() == 1 ? 0 : i];
    }

    std::size_t places() const {
        std::size_t most = 1;
        for (const auto& [name, numbers] : numbers_) most = std::max(most, numbers.size());
        return most;
    }

    /// The expression's value at place i, with the range that the numbers' intervals leave it: the extremes over all
    /// combinations of their ends. Empty: some number is a word, or the value is not finite.
    std::optional<Estimate> value_at(std::size_t i) const {
        std::vector<std::string> names;
        for (const auto& [name, numbers] : numbers_) names.push_back(name);
        CellFields middle;
        std::vector<CellFields> cells;
        for (const std::string& name : names) {
            const ResolvedCell& place = at(name, i);
            if (!place.ours) return std::nullopt;
            middle[name] = place.ours->median;
        }
        cells.push_back(middle);
        constexpr std::size_t most_names = 8;  // 256 combinations
        const std::size_t corners = names.size() <= most_names ? std::size_t{1} << names.size() : 0;
        for (std::size_t corner = 0; corner < corners; ++corner) {
            CellFields fields;
            for (std::size_t n = 0; n < names.size(); ++n) {
                const Estimate& e = *at(names[n], i).ours;
                fields[names[n]] = corner >> n & 1 ? e.high : e.low;
            }
            cells.push_back(std::move(fields));
        }
        const auto values = CellFilter(cells).values(claim_.value);
        if (!values.front()) return std::nullopt;
        Estimate e{.median = *values.front(), .low = *values.front(), .high = *values.front()};
        for (const auto& v : values)
            if (v) e.low = std::min(e.low, *v), e.high = std::max(e.high, *v);
        return e;
    }

    static double combined(OverValues over, std::vector<double> v) {
        const auto n = static_cast<double>(v.size());
        switch (over) {
            case OverValues::mean:
                return std::accumulate(v.begin(), v.end(), 0.0) / n;
            case OverValues::geometric_mean: {
                double logs = 0;
                for (const double x : v) logs += std::log(x);
                return std::exp(logs / n);
            }
            case OverValues::minimum:
                return *std::ranges::min_element(v);
            case OverValues::maximum:
                return *std::ranges::max_element(v);
            case OverValues::median:
            case OverValues::each:
                break;
        }
        return median(v);
    }

    Outcome compared() const {
        std::vector<Estimate> values;
        for (std::size_t i = 0; i < places(); ++i) {
            const auto value = value_at(i);
            if (!value) return undecided(fmt::format("'{}' has no value", claim_.value));
            values.push_back(*value);
        }
        if (claim_.over != OverValues::each) {
            const auto over = [&](auto member) {
                std::vector<double> all;
                for (const Estimate& e : values) all.push_back(e.*member);
                return combined(claim_.over, std::move(all));
            };
            values = {Estimate{
                .median = over(&Estimate::median), .low = over(&Estimate::low), .high = over(&Estimate::high)}};
        }
        std::vector<Outcome> outcomes;
        std::vector<std::string> shown;
        for (const Estimate& e : values) {
            shown.push_back(three_digits(e.median));
            outcomes.push_back(compared(e));
        }
        Outcome all = worst(outcomes);
        all.ours = fmt::format("{}", fmt::join(shown, ", "));
        return all;
    }

    Outcome compared(const Estimate& e) const {
        std::vector<Outcome> all;
        if (claim_.is) all.push_back({against(e.median, *claim_.is, claim_.within, false), "", ""});
        if (claim_.factor) all.push_back({against(e.median, *claim_.factor, claim_.within, true), "", ""});
        if (claim_.at_least) all.push_back(bounded(e, *claim_.at_least, true));
        if (claim_.at_most) all.push_back(bounded(e, *claim_.at_most, false));
        return worst(all);
    }

    static Outcome bounded(const Estimate& e, double bound, bool at_least) {
        const bool always = at_least ? e.low >= bound : e.high <= bound;
        const bool never = at_least ? e.high < bound : e.low > bound;
        if (always) return {};
        if (!never)
            return undecided(fmt::format("the interval from {} to {} has {} inside", three_digits(e.low),
                                         three_digits(e.high), three_digits(bound)));
        const bool near = bound != 1 && (e.median > 1) == (bound > 1) && is_within_2(e.median, bound, bound > 1);
        return {near ? Ruling::within_2 : Ruling::contradicted, "", ""};
    }

    Outcome matched() const {
        std::vector<Outcome> all;
        std::vector<std::string> shown;
        for (const ResolvedCell* place : numbers_.at(claim_.matches)) {
            if (!place->given) return undecided("published.csv has no number for one of the places");
            shown.push_back(fmt::format("{} (paper {})", text_of(*place), shown_published(*place)));
            if (!place->published) {  // a word: OOM
                all.push_back(
                    {place->placeholder() == place->given->text ? Ruling::reproduced : Ruling::contradicted, "",
                     ""});
                continue;
            }
            if (place->other_kind()) return undecided("the paper's number is of another kind than ours");
            if (!place->ours)
                all.push_back({Ruling::contradicted, "", ""});
            else
                all.push_back(
                    {against(place->ours->median, *place->published, claim_.within, is_ratio(*place)), "", ""});
        }
        Outcome outcome = worst(all);
        outcome.ours = fmt::format("{}", fmt::join(shown, ", "));
        return outcome;
    }

    /// Whether a is below b, as far as their intervals allow to say. Numbers without intervals, as simulated ones, have to
    /// differ by more than a thousandth: the last digits of a model decide nothing.
    static Outcome below(const ResolvedCell& a, const ResolvedCell& b) {
        if (!a.ours || !b.ours) return undecided("a place has no number");
        constexpr double least = 1e-3;
        const double low = a.ours->median, high = b.ours->median;
        if (std::abs(low - high) <= least * std::max(std::abs(low), std::abs(high)))
            return undecided("two numbers differ by a thousandth at most");
        if (a.ours->high < b.ours->low) return {};
        if (a.ours->low > b.ours->high) return {Ruling::contradicted, "", ""};
        return undecided("the intervals of two numbers overlap");
    }

    Outcome ordered() const {
        std::vector<Outcome> all;
        std::vector<std::string> shown;
        for (std::size_t i = 0; i < places(); ++i)
            for (std::size_t k = 1; k < claim_.order.size(); ++k)
                all.push_back(below(at(claim_.order[k - 1], i), at(claim_.order[k], i)));
        for (const std::string& name : claim_.order)
            shown.push_back(fmt::format("{} {}", name, text_of(numbers_.at(name))));
        Outcome outcome = worst(all);
        outcome.ours = fmt::format("{}", fmt::join(shown, "; "));
        return outcome;
    }

    Outcome monotone(const std::string& name, bool rising) const {
        std::vector<Outcome> all;
        const Numbers& n = numbers_.at(name);
        for (std::size_t i = 1; i < n.size(); ++i)
            all.push_back(rising ? below(*n[i - 1], *n[i]) : below(*n[i], *n[i - 1]));
        Outcome outcome = worst(all);
        outcome.ours = text_of(n);
        return outcome;
    }

    Outcome ended(const std::string& name, bool out_of_memory) const {
        std::vector<Outcome> all;
        for (const ResolvedCell* place : numbers_.at(name)) {
            const bool full = place->word == "OOM";
            if (!full && !place->ours)
                all.push_back(undecided(fmt::format("a trial ended as '{}'", place->placeholder())));
            else
                all.push_back({full == out_of_memory ? Ruling::reproduced : Ruling::contradicted, "", ""});
        }
        Outcome outcome = worst(all);
        outcome.ours = text_of(numbers_.at(name));
        return outcome;
    }

    const PaperClaim& claim_;
    EvidenceKind kind_;
    std::map<std::string, Numbers> numbers_;
};

}  // namespace

std::string_view to_text(Ruling ruling) {
    switch (ruling) {
        case Ruling::reproduced:
            return "REPRODUCED";
        case Ruling::within_2:
            return "WITHIN 2×";
        case Ruling::undecided:
            return "UNDECIDED";
        case Ruling::contradicted:
            return "CONTRADICTED";
        case Ruling::fitted:
            return "FITTED";
    }
    return "";
}

JudgedClaim judge(const PaperClaim& claim, const FindPlace& find) {
    JudgedClaim judged{.claim = &claim, .measured = {}, .simulated = {}};
    if (!claim.judged()) {
        judged.measured.why = judged.simulated.why = claim.missing;
        return judged;
    }
    const auto may = [&](ClaimSetting s) { return std::ranges::find(claim.settings, s) != claim.settings.end(); };
    if (may(ClaimSetting::paper) || may(ClaimSetting::scaled))
        judged.measured = Judge(claim, find, EvidenceKind::measured).verdict();
    else
        judged.measured.why = "only a simulation is asked to judge it";
    if (may(ClaimSetting::simulated))
        judged.simulated = Judge(claim, find, EvidenceKind::simulated).verdict();
    else
        judged.simulated.why = "no simulation can judge it";
    return judged;
}

std::string stated(const PaperClaim& c) {
    std::vector<std::string> all;
    const auto number = [](double v) { return three_digits(v); };
    const std::string value = c.over == OverValues::each             ? c.value
                              : c.over == OverValues::geometric_mean ? "geometric mean of " + c.value
                              : c.over == OverValues::mean           ? "mean of " + c.value
                              : c.over == OverValues::median         ? "median of " + c.value
                              : c.over == OverValues::minimum        ? "least " + c.value
                                                                     : "most " + c.value;
    if (c.is) all.push_back(value + " = " + number(*c.is));
    if (c.factor) all.push_back(value + " = " + number(*c.factor));
    if (c.at_least) all.push_back(value + " ≥ " + number(*c.at_least));
    if (c.at_most) all.push_back(value + " ≤ " + number(*c.at_most));
    if (!c.matches.empty()) all.push_back(c.matches + " as published");
    if (!c.order.empty()) all.push_back(fmt::format("{}", fmt::join(c.order, " < ")));
    if (!c.rises.empty()) all.push_back(c.rises + " rises");
    if (!c.falls.empty()) all.push_back(c.falls + " falls");
    if (!c.runs.empty()) all.push_back(c.runs + " fits");
    if (!c.out_of_memory.empty()) all.push_back(c.out_of_memory + " runs out of memory");
    return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace gnnbench
