#pragma once
#include <cstdint>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench {

/// Makes rows of a graph resident, so that their pages do not count as the partitioner's.
void touch_rows(const GraphView& graph, RowRange rows);

/// The most memory that this process holds from here on, above what it holds now.
class PeakMemory {
public:
    PeakMemory();
    std::int64_t bytes() const;

private:
    std::int64_t before_;
};

}  // namespace gnnbench
