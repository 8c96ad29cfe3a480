#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace gnnbench::simulation {

/// How often a sparse matrix's columns have nonzeros. Where they lie in no order, two reads of a column's row of B are as
/// many rows apart as other columns have nonzeros between them, so that a cache still has frequent columns' rows when it
/// has lost rare ones'.
struct ColumnReads {
    struct Group {
        double reads = 0;  ///< nonzeros of its columns
        double rows = 0;   ///< of B, among which reads of a matrix with equal columns would be as far apart
    };
    double columns = 0, nonzeros = 0;
    std::vector<Group> groups;
};

/// `counts`: nonzeros of each column.
ColumnReads column_reads(std::span<const std::int32_t> counts);

}  // namespace gnnbench::simulation
