#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/expectation.hpp"
#include "partition/measure.hpp"

/// From partitions of a graph that is there to what {expect: …} has of one: how its parts would be at other numbers.

namespace gnnbench {

/// Of one partition of whole vertices. `entries`: of the graph, without self-loops. The halo is the mean of a product by Â
/// and one by Âᵀ.
PartShares measured_shares(const PartitionCost& cost, std::int64_t vertices, std::int64_t entries);

struct MeasuredParts {
    std::int64_t parts = 1;
    PartShares shares;
};

/// The slope of ln y over ln x by least squares, of points with positive coordinates; nothing where those have fewer than
/// two different x.
std::optional<double> growth_of(std::span<const std::pair<double, double>> points);

/// What was measured at the largest number of parts, with growths over all numbers within the range that the keys of
/// {expect: …} allow; growths are 0 where one number was measured. At least one, of two parts or more.
ExpectedDataset::Partitioned fitted_parts(std::span<const MeasuredParts> measured);

/// Its keys in {expect: …}; growths of 0 are left out. Shares and imbalances are rounded down, so that a halo stays possible.
nlohmann::ordered_json expectation_keys(const ExpectedDataset::Partitioned& parts);

}  // namespace gnnbench
