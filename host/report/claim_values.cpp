#include "report/claim_values.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "record/cell_filter.hpp"
#include "report/cell_numbers.hpp"
#include "report/resolved_table.hpp"

namespace gnnbench {

bool is_over_draws(std::span<const ResolvedCell* const> numbers) {
    const auto has_number = [](const ResolvedCell* place) { return place->ours.has_value(); };
    const auto is_mean = [](const ResolvedCell* place) { return !place->without.empty(); };
    const auto is_sure = [](const ResolvedCell* place) { return place->ours->low >= place->ours->high; };
    return std::ranges::all_of(numbers, has_number) && std::ranges::any_of(numbers, is_mean) &&
           std::ranges::all_of(numbers, [&](const ResolvedCell* p) { return is_mean(p) || is_sure(p); });
}

ClaimValues::ClaimValues(const PaperClaim& claim, const NumbersByName& numbers)
    : claim_(claim), numbers_(numbers), names_(claim.names_in_value()) {
    for (const std::string& name : names_) {
        const Numbers& of_name = numbers_.at(name);
        used_.insert(used_.end(), of_name.begin(), of_name.end());
        places_ = std::max(places_, of_name.size());
    }
}

std::size_t ClaimValues::wanted() const { return claim_.over == OverCells::only ? places_ : 1; }

/// A name's place; the only one, where there is one.
const ResolvedCell& ClaimValues::at(const std::string& name, std::size_t place) const {
    const Numbers& of_name = numbers_.at(name);
    return *of_name[of_name.size() == 1 ? 0 : place];
}

std::optional<double> ClaimValues::value_at(std::size_t place, const ReadNumber& read) const {
    std::vector<CellFields> cells(1);
    for (const std::string& name : names_) cells.front()[name] = read(at(name, place));
    return CellFilter(cells).values(claim_.value).front();
}

/// The extremes over all combinations of the intervals' ends, without bounds where one of these has no value.
std::optional<Estimate> ClaimValues::range_at(std::size_t place) const {
    CellFields middle;
    std::vector<CellFields> cells;
    for (const std::string& name : names_) {
        const ResolvedCell& number = at(name, place);
        if (!number.ours) return std::nullopt;
        middle[name] = number.ours->median;
    }
    cells.push_back(middle);
    constexpr std::size_t most_names = 8;  // 256 combinations
    const std::size_t corners = names_.size() <= most_names ? std::size_t{1} << names_.size() : 0;
    for (std::size_t corner = 0; corner < corners; ++corner) {
        CellFields fields;
        for (std::size_t n = 0; n < names_.size(); ++n) {
            const Estimate& e = *at(names_[n], place).ours;
            fields[names_[n]] = corner >> n & 1 ? e.high : e.low;
        }
        cells.push_back(std::move(fields));
    }
    const auto values = CellFilter(cells).values(claim_.value);
    if (!values.front()) return std::nullopt;
    Estimate e{.median = *values.front(), .low = *values.front(), .high = *values.front()};
    for (const auto& v : values) {
        e.low = std::min(e.low, v.value_or(-INFINITY));
        e.high = std::max(e.high, v.value_or(INFINITY));
    }
    return e;
}

std::vector<Estimate> ClaimValues::over_draws() const {
    std::vector<OfNumbers> quantities;
    if (claim_.over == OverCells::only)
        for (std::size_t i = 0; i < places_; ++i)
            quantities.emplace_back([this, i](const ReadNumber& read) { return value_at(i, read); });
    else
        quantities.emplace_back([this](const ReadNumber& read) -> std::optional<double> {
            std::vector<double> values;
            for (std::size_t i = 0; i < places_; ++i) {
                const auto value = value_at(i, read);
                if (!value) return std::nullopt;
                values.push_back(*value);
            }
            return combined(claim_.over, values);
        });
    std::vector<Estimate> values;
    for (const OfNumbers& quantity : quantities) {
        const auto value = quantity([](const ResolvedCell& number) { return number.ours->median; });
        if (!value) continue;
        const double error = two_errors(used_, quantity).value_or(INFINITY);
        values.push_back({.median = *value, .low = *value - error, .high = *value + error});
    }
    return values;
}

std::vector<Estimate> ClaimValues::values() const {
    if (is_over_draws(used_)) return over_draws();
    std::vector<Estimate> values;
    for (std::size_t i = 0; i < places_; ++i)
        if (const auto value = range_at(i)) values.push_back(*value);
    if (claim_.over == OverCells::only) return values;
    if (values.size() < places_) return {};
    const auto over = [&](auto member) {
        std::vector<double> all;
        for (const Estimate& e : values) all.push_back(e.*member);
        return combined(claim_.over, all);
    };
    return {{.median = over(&Estimate::median), .low = over(&Estimate::low), .high = over(&Estimate::high)}};
}

}  // namespace gnnbench
