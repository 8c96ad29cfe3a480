#include "partition/expected_parts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

constexpr double largest_growth = 2;  ///< that keys allow

double grown(std::span<const MeasuredParts> measured, double least,
             const std::function<double(const PartShares&)>& number) {
    std::vector<std::pair<double, double>> points;
    for (const MeasuredParts& m : measured) points.emplace_back(static_cast<double>(m.parts), number(m.shares));
    return std::clamp(growth_of(points).value_or(0), least, largest_growth);
}

double rounded(double growth) { return std::round(growth * 1e4) / 1e4; }
double rounded_down(double x) { return std::floor(x * 1e6 + 1e-4) / 1e6; }

}  // namespace

PartShares measured_shares(const PartitionCost& cost, std::int64_t vertices, std::int64_t entries) {
    const double both = static_cast<double>(cost.connectivity_minus_one) +
                        static_cast<double>(cost.backward_connectivity_minus_one);
    const double cut = entries > 0 ? static_cast<double>(cost.edge_cut) / static_cast<double>(entries) : 0;
    return {.inside = 1 - cut,
            .halo = both / 2 / static_cast<double>(vertices),
            .imbalance = {.vertices = cost.spread(&PartCost::vertices).imbalance(),
                          .nonzeros = cost.spread(&PartCost::nonzeros).imbalance(),
                          .halo = cost.spread(&PartCost::received_rows).imbalance()}};
}

std::optional<double> growth_of(std::span<const std::pair<double, double>> points) {
    double count = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& [px, py] : points) {
        if (px <= 0 || py <= 0) continue;
        const double lx = std::log(px), ly = std::log(py);
        count += 1;
        x += lx;
        y += ly;
        xx += lx * lx;
        xy += lx * ly;
    }
    const double spread = count * xx - x * x;
    if (count < 2 || spread <= 1e-12 * count * xx) return {};
    return (count * xy - x * y) / spread;
}

ExpectedDataset::Partitioned fitted_parts(std::span<const MeasuredParts> measured) {
    require(!measured.empty(), "a fit needs a measured partition");
    const MeasuredParts& last = *std::ranges::max_element(measured, {}, &MeasuredParts::parts);
    const auto imbalance_growth = [&](double PartImbalance::* number) {
        return grown(measured, -largest_growth, [&](const PartShares& s) { return s.imbalance.*number; });
    };
    return {.inside = last.shares.inside,
            .halo = last.shares.halo,
            .parts = last.parts,
            .cut_growth = grown(measured, 0, [](const PartShares& s) { return 1 - s.inside; }),
            .halo_growth = grown(measured, 0, [](const PartShares& s) { return s.halo.value_or(0); }),
            .imbalance = last.shares.imbalance,
            .imbalance_growth = {.vertices = imbalance_growth(&PartImbalance::vertices),
                                 .nonzeros = imbalance_growth(&PartImbalance::nonzeros),
                                 .halo = imbalance_growth(&PartImbalance::halo)}};
}

nlohmann::ordered_json expectation_keys(const ExpectedDataset::Partitioned& parts) {
    nlohmann::ordered_json keys = {{"locality", rounded_down(parts.inside)},
                                   {"halo", rounded_down(parts.halo.value_or(-1))},
                                   {"locality_parts", parts.parts},
                                   {"vertex_imbalance", rounded_down(parts.imbalance.vertices)},
                                   {"nonzero_imbalance", rounded_down(parts.imbalance.nonzeros)},
                                   {"halo_imbalance", rounded_down(parts.imbalance.halo)}};
    const std::pair<const char*, double> growths[] = {
        {"cut_growth", parts.cut_growth},
        {"halo_growth", parts.halo_growth},
        {"vertex_imbalance_growth", parts.imbalance_growth.vertices},
        {"nonzero_imbalance_growth", parts.imbalance_growth.nonzeros},
        {"halo_imbalance_growth", parts.imbalance_growth.halo}};
    for (const auto& [key, growth] : growths)
        if (rounded(growth) != 0) keys[key] = rounded(growth);
    return keys;
}

}  // namespace gnnbench
