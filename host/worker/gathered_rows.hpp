#pragma once
#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

namespace gnnbench {

/// Rows of all ranks in one matrix, in the order of vertices.
struct GatheredRows {
    HostMatrix rows;            ///< [vertices × columns]
    HostMatrix apart;           ///< how far copies of an element differ, where several ranks have the row
    std::int64_t missing = -1;  ///< the first vertex that no rank has; −1: all are there
};

/// Every rank's rows, on rank 0; nothing on the others. Collective. Throws DataError where rows are of no vertex, or not
/// as wide as `columns`.
GatheredRows gather_rows(const OwnedRows& mine, std::int64_t vertices, std::int64_t columns,
                         const ProcessGroup& group);

}  // namespace gnnbench
