#include <gnnbench/batches/subgraph.hpp>

#include <gnnbench/usize.hpp>

namespace gnnbench {

SubgraphMaker::SubgraphMaker(const GraphView& graph) : graph_(graph), local_(usize(graph.vertices()), -1) {}

Subgraph SubgraphMaker::induced(std::vector<GlobalId> vertices) {
    Subgraph s;
    s.symmetric = graph_.symmetric;
    s.vertices = std::move(vertices);
    for (std::size_t i = 0; i < s.vertices.size(); ++i)
        local_[usize(value(s.vertices[i]))] = static_cast<std::int32_t>(i);
    s.indptr.reserve(s.vertices.size() + 1);
    for (const GlobalId v : s.vertices) {
        const auto last = usize(graph_.indptr[usize(value(v)) + 1]);
        for (auto e = usize(graph_.indptr[usize(value(v))]); e < last; ++e) {
            const std::int32_t j = local_[usize(graph_.indices[e])];
            if (j < 0) continue;
            s.indices.push_back(j);
            if (!graph_.weights.empty()) s.weights.push_back(graph_.weights[e]);
        }
        s.indptr.push_back(static_cast<std::int64_t>(s.indices.size()));
    }
    for (const GlobalId v : s.vertices) local_[usize(value(v))] = -1;
    return s;
}

}  // namespace gnnbench
