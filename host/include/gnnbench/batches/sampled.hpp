#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <gnnbench/batches/source.hpp>
#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/params.hpp>

/// Batches that are drawn anew for each item from (seed, item): for training on samples, and for partitioners that
/// want to know what such training will communicate. Every rank that draws an item draws the same.

namespace gnnbench {

struct VertexSampleSettings {
    std::int64_t batch_vertices = 1;  ///< at least 1; no more than the graph has are drawn
    std::uint64_t seed = 0;
};

/// Each item is a set of `batch_vertices` vertices drawn uniformly without replacement, independent of all others; an
/// epoch has as many as it takes to draw as many vertices as the graph has.
class VertexSamples final : public BatchSource {
public:
    VertexSamples(std::int64_t vertices, const VertexSampleSettings& settings);

    std::int64_t batches() const override;
    std::vector<GlobalId> vertices(std::int64_t item) const override;
    std::int64_t most_vertices() const override { return settings_.batch_vertices; }

private:
    std::int64_t vertices_;
    VertexSampleSettings settings_;
};

struct NeighbourSampleSettings {
    std::int64_t batch_seeds = 1;  ///< at least 1; the last batch of an epoch has what is left
    std::int64_t fan_out = 1;      ///< at least 1: neighbours drawn of a vertex
    int hops = 1;                  ///< of the model: its layers
    std::uint64_t seed = 0;
};

/// Each item is a set of seeds with, hop by hop, up to `fan_out` of the vertices that each vertex of the hop before
/// aggregates from, drawn uniformly without replacement; vertices reached by several hops are expanded once. An epoch
/// has each seed once, in an order drawn from (seed, epoch).
class NeighbourSamples final : public BatchSource {
public:
    /// `graph`'s arrays must outlive it. `seeds`: ascending; a dataset's train vertices, or all vertices.
    NeighbourSamples(const GraphView& graph, std::vector<GlobalId> seeds, const NeighbourSampleSettings& settings);

    std::int64_t batches() const override;
    std::vector<GlobalId> vertices(std::int64_t item) const override;
    std::optional<std::vector<GlobalId>> seeds(std::int64_t item) const override { return seeds_of(item); }
    std::int64_t most_vertices() const override { return most_vertices_; }

private:
    std::vector<GlobalId> seeds_of(std::int64_t item) const;

    GraphView graph_;
    std::vector<GlobalId> seeds_;
    NeighbourSampleSettings settings_;
    std::int64_t most_vertices_ = 0;
};

/// The source that a plugin's parameters `sampler` (vertices | neighbours), `batch_vertices` and `fan_out` describe, so
/// that a partitioner and a strategy mean the same by them. Neighbours are sampled for train vertices, or for all where
/// the dataset has no split. The dataset's arrays must outlive it.
std::unique_ptr<BatchSource> make_sampled_source(const DatasetView& data, const Params& params, int hops,
                                                 std::uint64_t seed);

}  // namespace gnnbench
