#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <data/raw_dataset.hpp>

namespace gnnbench {

inline constexpr std::int64_t most_classes = 1'000'000;

/// One class for each vertex, of the numbers that a file has: whole ones; −1 and NaN where it is unknown. There are as
/// many classes as the largest number says. `what` names file and array in errors.
void take_classes(RawDataset& data, std::span<const double> values, const std::string& what);

/// Any number of labels for each vertex: [n × classes] of 0 and 1.
void take_label_matrix(RawDataset& data, std::span<const double> values, std::int64_t n, std::int64_t classes,
                       const std::string& what);

/// DataError where a label matrix may not have so many classes.
void check_label_columns(std::int64_t n, std::int64_t classes, const std::string& what);

}  // namespace gnnbench
