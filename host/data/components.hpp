#pragma once
#include <cstdint>

#include <gnnbench/graph.hpp>

namespace gnnbench {

/// Connected components, directions ignored.
struct Components {
    std::int64_t count = 0;
    std::int64_t largest = 0;  ///< vertices of the largest
};
Components count_components(const GraphView& graph);

}  // namespace gnnbench
