// Demirci, Haldar & Ferhatosmanoglu, "Scalable Graph Convolutional Network Training on Distributed-Memory Systems"
// (PVLDB 16(4), 2022), Algorithm 3: nets of sampled subgraphs, merged into one hypergraph.
#include "merged_nets.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <gnnbench/batches/subgraph.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "contraction.hpp"

namespace gnnbench::stochastic {
namespace {

using hypergraph::Hypergraph;
using hypergraph::Id;

/// The column nets of one subgraph, in its local ids.
struct LocalNets {
    std::vector<std::int64_t> offsets;  ///< length vertices + 1
    std::vector<std::int32_t> pins;     ///< ascending in each net
};

LocalNets column_nets(const Subgraph& batch) {
    const std::size_t n = batch.vertices.size();
    LocalNets nets{std::vector<std::int64_t>(n + 1), {}};
    const auto for_each_pin = [&](auto&& visit) {  // visit(net, pin), pins ascending
        for (std::size_t row = 0; row < n; ++row) {
            visit(row, row);
            for (std::int64_t e = batch.indptr[row]; e < batch.indptr[row + 1]; ++e)
                if (const auto column = usize(batch.indices[usize(e)]); column != row) visit(column, row);
        }
    };
    for_each_pin([&](std::size_t net, std::size_t) { ++nets.offsets[net + 1]; });
    std::partial_sum(nets.offsets.begin(), nets.offsets.end(), nets.offsets.begin());
    nets.pins.resize(usize(nets.offsets.back()));
    std::vector<std::int64_t> next(nets.offsets.begin(), nets.offsets.end() - 1);
    for_each_pin(
        [&](std::size_t net, std::size_t pin) { nets.pins[usize(next[net]++)] = static_cast<std::int32_t>(pin); });
    return nets;
}

/// Both rows ascend, so one pass finds a batch's row in the graph's.
void mark_seen(const GraphView& graph, const Subgraph& batch, std::vector<bool>& seen) {
    for (std::size_t row = 0; row < batch.vertices.size(); ++row) {
        std::int64_t at = graph.indptr[usize(value(batch.vertices[row]))];
        for (std::int64_t e = batch.indptr[row]; e < batch.indptr[row + 1]; ++e) {
            const std::int64_t column = value(batch.vertices[usize(batch.indices[usize(e)])]);
            while (graph.indices[usize(at)] != column) ++at;
            seen[usize(at)] = column != value(batch.vertices[row]);
        }
    }
}

void append(Hypergraph& h, const LocalNets& nets, const std::vector<GlobalId>& vertices) {
    for (std::size_t net = 0; net + 1 < nets.offsets.size(); ++net) {
        if (nets.offsets[net + 1] - nets.offsets[net] < 2) continue;
        for (std::int64_t i = nets.offsets[net]; i < nets.offsets[net + 1]; ++i)
            h.pins.push_back(static_cast<Id>(value(vertices[usize(nets.pins[usize(i)])])));
        h.net_offsets.push_back(h.pin_count());
        h.net_weight.push_back(1);
    }
}

Hypergraph without_nets(std::vector<hypergraph::Weight> vertex_weight) {
    Hypergraph h;
    h.vertex_weight = std::move(vertex_weight);
    h.total_weight = std::accumulate(h.vertex_weight.begin(), h.vertex_weight.end(), hypergraph::Weight{0});
    h.net_offsets.push_back(0);
    return h;
}

void check_net_count(const Hypergraph& h) {
    if (h.net_weight.size() > usize(std::numeric_limits<hypergraph::NetWeight>::max()))
        throw DataError(
            "stochastic-hypergraph numbers nets in 31 bits, and its sample has more: lower coverage or batches");
}

Hypergraph identical_merged(Hypergraph h) {
    index_vertices(h);
    std::vector<Id> alone(h.vertex_count());
    std::iota(alone.begin(), alone.end(), Id{0});
    return std::move(contract(h, alone).coarse);
}

}  // namespace

MergedNets merge_nets(const GraphView& graph, const BatchSource& source, const SampleSize& enough,
                      std::vector<hypergraph::Weight> vertex_weight) {
    Hypergraph all = without_nets(std::move(vertex_weight));
    SubgraphMaker maker(graph);
    MergedNets merged{.hypergraph = {}, .nets = 0, .seen = std::vector<bool>(graph.indices.size())};
    for (std::int64_t b = 0; b < enough.batches || merged.nets < enough.nets; ++b) {
        const Subgraph batch = maker.induced(source.vertices(b));
        if (batch.vertices.empty()) break;  // a sampler without seeds never has any
        merged.nets += static_cast<std::int64_t>(batch.vertices.size());
        const LocalNets nets = column_nets(batch);
        mark_seen(graph, batch, merged.seen);
        append(all, nets, batch.vertices);
        check_net_count(all);
    }
    merged.hypergraph = identical_merged(std::move(all));
    return merged;
}

Hypergraph with_expected_nets(const GraphView& graph, MergedNets sample) {
    Hypergraph all = std::move(sample.hypergraph);
    for (std::int64_t row = 0; row < graph.vertices(); ++row)
        for (std::int64_t e = graph.indptr[usize(row)]; e < graph.indptr[usize(row) + 1]; ++e) {
            const std::int64_t column = graph.indices[usize(e)];
            if (column == row || sample.seen[usize(e)]) continue;
            all.pins.push_back(static_cast<Id>(std::min(row, column)));
            all.pins.push_back(static_cast<Id>(std::max(row, column)));
            all.net_offsets.push_back(all.pin_count());
            all.net_weight.push_back(1);
        }
    check_net_count(all);
    return identical_merged(std::move(all));
}

}  // namespace gnnbench::stochastic
