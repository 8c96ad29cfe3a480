#include "report/claim_verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/claim_evidence.hpp"
#include "report/claim_values.hpp"
#include "report/paper_table.hpp"
#include "report/units.hpp"

namespace gnnbench {
namespace {

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
    // A gain that is a loss here is another finding, however near.
    const bool turned = is_ratio && claimed != 1 && (ours > 1) != (claimed > 1);
    if (!turned && std::abs(ours / claimed - 1) <= within * (1 + 1e-12)) return Ruling::reproduced;
    return is_within_2(ours, claimed, is_ratio) ? Ruling::within_2 : Ruling::contradicted;
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
        v.setting = setting_text(all, claim_, kind_);
        std::string missing;
        if (without > 0)
            missing =
                fmt::format("{} of {} numbers are missing{}", without, places, first.empty() ? "" : ": " + first);
        if (v.why = why_no_evidence(all, claim_, kind_);
            !v.why.empty() || (without > 0 && !every_place_is_known())) {
            if (without > 0) v.why = missing;
            return v;
        }
        const Outcome outcome = judged();
        if (without > 0 && outcome.ruling != Ruling::contradicted) {
            v.why = missing;
            return v;
        }
        const bool fitted = std::ranges::any_of(all, &ResolvedCell::fitted) && outcome.ruling != Ruling::undecided;
        v.ruling = fitted ? Ruling::fitted : outcome.ruling;
        v.ours = outcome.ours;
        v.why = without > 0 ? missing + "; those that are there contradict" : outcome.why;
        return v;
    }

private:
    static std::string reason_of(const ResolvedCell* place) {
        if (!place || place->remarks.empty()) return "";
        return place->remarks.front();
    }

    bool every_place_is_known() const {
        return std::ranges::all_of(numbers_, [](const auto& of_name) {
            return std::ranges::all_of(of_name.second, [](const ResolvedCell* place) { return place != nullptr; });
        });
    }

    /// Of places without a number nothing is decided; where others contradict, the claim is contradicted.
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

    /// Of the names that are compared place by place.
    std::size_t places(const std::vector<std::string>& names) const {
        std::size_t most = 1;
        for (const std::string& name : names) most = std::max(most, numbers_.at(name).size());
        return most;
    }

    Outcome compared() const {
        const ClaimValues of_value(claim_, numbers_);
        const std::vector<Estimate> values = of_value.values();
        Outcome none = undecided(fmt::format("'{}' has no value", claim_.value));
        if (values.empty()) return none;
        std::vector<Outcome> outcomes;
        std::vector<std::string> shown;
        if (values.size() < of_value.wanted()) outcomes.push_back(std::move(none));
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
            if (place->other_kind()) return undecided("the paper's number is of another kind than ours");
            if (!place->published || !place->ours)  // a word on one side: OOM
                all.push_back(same_word(*place));
            else
                all.push_back(
                    {against(place->ours->median, *place->published, claim_.within, is_ratio(*place)), "", ""});
        }
        Outcome outcome = worst(all);
        outcome.ours = fmt::format("{}", fmt::join(shown, ", "));
        return outcome;
    }

    /// Of two words, or a word and a number. A trial that ended in a way of its own decides nothing.
    static Outcome same_word(const ResolvedCell& place) {
        const std::string& ours = place.placeholder();
        if (!place.ours && !place.published && ours == place.given->text) return {};
        if (!place.ours && ours != "OOM") return undecided(fmt::format("a trial ended as '{}'", ours));
        return {Ruling::contradicted, "", ""};
    }

    /// Whether a is below b, as far as their intervals allow to say. Numbers without intervals, as simulated ones, have to
    /// differ by more than a thousandth: the last digits of a model decide nothing.
    static Outcome below(const ResolvedCell& a, const ResolvedCell& b) {
        if (!a.ours || !b.ours) return undecided("a place has no number");
        constexpr double least = 1e-3;
        const double low = a.ours->median, high = b.ours->median;
        if (std::abs(low - high) <= least * std::max(std::abs(low), std::abs(high)))
            return undecided("two numbers differ by a thousandth at most");
        if (is_over_draws(std::array{&a, &b})) {
            const OfNumbers difference = [&](const ReadNumber& read) { return std::optional(read(b) - read(a)); };
            const double error = *two_errors(std::array{&a, &b}, difference);
            if (std::abs(high - low) <= error)
                return undecided("two numbers differ by less than two standard errors of their difference");
            return {low < high ? Ruling::reproduced : Ruling::contradicted, "", ""};
        }
        if (a.ours->high < b.ours->low) return {};
        if (a.ours->low > b.ours->high) return {Ruling::contradicted, "", ""};
        return undecided("the intervals of two numbers overlap");
    }

    Outcome ordered() const {
        std::vector<Outcome> all;
        std::vector<std::string> shown;
        for (std::size_t i = 0; i < places(claim_.order); ++i)
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
    NumbersByName numbers_;
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
    const std::string value = c.over == OverCells::only             ? c.value
                              : c.over == OverCells::geometric_mean ? "geometric mean of " + c.value
                              : c.over == OverCells::mean           ? "mean of " + c.value
                              : c.over == OverCells::median         ? "median of " + c.value
                              : c.over == OverCells::minimum        ? "least " + c.value
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
