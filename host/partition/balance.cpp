#include "partition/balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/undirected.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

std::string text_of(const LeastHeaviest& least, const char* unit) {
    if (least.rows.empty()) return fmt::format("a part has {} {} in the mean", least.weight, unit);
    if (least.rows.size() == 1) return fmt::format("row {} alone has {} {}", least.rows[0], least.weight, unit);
    return fmt::format("some part has {} rows as heavy as rows {}, together at least {} {}", least.rows.size(),
                       fmt::join(least.rows, ", "), least.weight, unit);
}

}  // namespace

LeastHeaviest least_heaviest_part(std::span<const std::int64_t> weight, Part parts) {
    LeastHeaviest least;
    const auto n = std::ssize(weight);
    if (n == 0 || parts < 1) return least;
    least.weight = (std::reduce(weight.begin(), weight.end()) + parts - 1) / parts;
    std::vector<std::int64_t> rows(usize(n));
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    std::ranges::stable_sort(rows,
                             [&](std::int64_t a, std::int64_t b) { return weight[usize(a)] > weight[usize(b)]; });
    constexpr std::int64_t most_rows = 8;  // of more rows a part, the mean is as large but for little
    for (std::int64_t k = 0; k < most_rows && k * parts < n; ++k) {
        const auto shared = std::span(rows).subspan(usize(k * parts - k), usize(k + 1));
        std::int64_t sum = 0;
        for (const std::int64_t r : shared) sum += weight[usize(r)];
        if (sum > least.weight) least = {sum, {shared.begin(), shared.end()}};
    }
    return least;
}

std::string why_not_balanced(const GraphView& graph, std::span<const Part> part_of, Part parts,
                             const Params& params) {
    const auto& given = params.values();
    if (!given.contains("imbalance") || !given.contains("weights") || part_of.empty() || parts < 2) return {};
    const bool by_nonzeros = params.choice("weights") == "nonzeros";
    const std::vector<std::int64_t> weight =
        by_nonzeros ? row_nonzeros(graph) : std::vector<std::int64_t>(part_of.size(), 1);
    std::vector<std::int64_t> load(usize(parts));
    for (std::size_t v = 0; v < part_of.size(); ++v) load[usize(part_of[v])] += weight[v];
    const double imbalance = params.real("imbalance");
    const auto total = std::reduce(load.begin(), load.end());
    const double mean = static_cast<double>(total) / parts;
    const double allowed = std::max((1 + imbalance) * std::ceil(mean), 1.0);
    const auto heaviest = *std::ranges::max_element(load);
    if (static_cast<double>(heaviest) <= allowed) return {};
    const char* unit = by_nonzeros ? "nonzeros" : "vertices";
    const LeastHeaviest least = least_heaviest_part(weight, parts);
    const std::string kept = fmt::format(
        "the heaviest of {} parts has {} {}, {:.3f} times the mean, where imbalance {} "
        "allows {:.0f}",
        parts, heaviest, unit, static_cast<double>(heaviest) / mean, imbalance, std::floor(allowed));
    if (static_cast<double>(least.weight) <= allowed) return kept + ": the partitioner found no better one";
    return fmt::format("{}: no partition can have less than {}, because {}", kept, least.weight,
                       text_of(least, unit));
}

}  // namespace gnnbench
