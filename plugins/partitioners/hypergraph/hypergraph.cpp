#include "hypergraph.hpp"

#include <algorithm>
#include <numeric>

namespace gnnbench::hypergraph {

void index_vertices(Hypergraph& h) {
    const Id n = h.vertex_count(), m = h.net_count();
    h.vertex_offsets.assign(n + std::size_t{1}, 0);
    for (const Id pin : h.pins) ++h.vertex_offsets[pin + std::size_t{1}];
    std::partial_sum(h.vertex_offsets.begin(), h.vertex_offsets.end(), h.vertex_offsets.begin());
    h.nets.resize(h.pins.size());
    // Counts each vertex' offset up to the next one's, so that all lie one place too far to the left afterwards.
    for (Id net = 0; net < m; ++net)
        for (const Id pin : h.pins_of(net)) h.nets[static_cast<std::size_t>(h.vertex_offsets[pin]++)] = net;
    std::move_backward(h.vertex_offsets.begin(), h.vertex_offsets.end() - 1, h.vertex_offsets.end());
    h.vertex_offsets[0] = 0;
}

void reorder(Hypergraph& h, std::span<const Id> new_of) {
    const Id n = h.vertex_count(), m = h.net_count();
    std::vector<Id> old_of(n);
    for (Id v = 0; v < n; ++v) old_of[new_of[v]] = v;
    {
        std::vector<Weight> weight(n);
        for (Id v = 0; v < n; ++v) weight[v] = h.vertex_weight[old_of[v]];
        h.vertex_weight = std::move(weight);
    }
    // Nets by the new name of their column, or of a pin: sorted by counting.
    const auto key = [&](Id net) { return new_of[h.column.empty() ? h.pins_of(net).front() : h.column[net]]; };
    std::vector<Id> first(n + std::size_t{1}), new_net(m);
    for (Id net = 0; net < m; ++net) ++first[key(net) + std::size_t{1}];
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (Id net = 0; net < m; ++net) new_net[net] = first[key(net)]++;
    h.column = {};

    std::vector<std::int64_t> next(m + std::size_t{1});
    std::vector<NetWeight> weight(m);
    for (Id net = 0; net < m; ++net) {
        next[new_net[net] + std::size_t{1}] = h.net_size(net);
        weight[new_net[net]] = h.net_weight[net];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    h.net_weight = std::move(weight);
    h.net_offsets = next;
    // Every vertex in turn is appended to its nets.
    for (Id v = 0; v < n; ++v)
        for (const Id net : h.nets_of(old_of[v])) h.pins[static_cast<std::size_t>(next[new_net[net]]++)] = v;
    next = {};
    index_vertices(h);
}

void forget_vertex_index(Hypergraph& h) {
    h.vertex_offsets = {};
    h.nets = {};
}

}  // namespace gnnbench::hypergraph
