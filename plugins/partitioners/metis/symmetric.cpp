#include "symmetric.hpp"

#include <string>

#include <gnnbench/error.hpp>
#include <gnnbench/undirected.hpp>

namespace gnnbench {

MetisGraph symmetrised(const GraphView& graph, std::int64_t limit) {
    const Undirected undirected(graph);
    MetisGraph result;
    result.offsets.reserve(usize(graph.vertices()) + 1);
    result.offsets.push_back(0);
    std::int64_t entries = 0;
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        entries += undirected.degree(v);
        if (entries > limit)
            throw Unsupported("metis counts entries in 32 bits: the graph made symmetric has more than " +
                              std::to_string(limit) + " of them");
        result.offsets.push_back(static_cast<idx_t>(entries));
    }
    result.neighbours.reserve(usize(entries));
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
        undirected.neighbours(v, [&](std::int32_t u) { result.neighbours.push_back(u); });
    return result;
}

}  // namespace gnnbench
