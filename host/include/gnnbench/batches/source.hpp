#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench {

/// Which vertices each batch has. Batch b of epoch e is item e · batches() + b; what an item is depends on nothing
/// else, so any worker can prepare any item.
class BatchSource {
public:
    virtual ~BatchSource();
    /// Batches of an epoch.
    virtual std::int64_t batches() const = 0;
    /// The vertices of a batch: ascending, without repeats.
    virtual std::vector<GlobalId> vertices(std::int64_t item) const = 0;
    /// Those of them whose loss counts, if they are train vertices; nothing: all. Ascending.
    virtual std::optional<std::vector<GlobalId>> seeds(std::int64_t /*item*/) const { return std::nullopt; }
    /// No item has more vertices.
    virtual std::int64_t most_vertices() const = 0;
    /// Items with the same number have the same vertices, {0 … fixed_sets() − 1}; −1 where nothing repeats.
    virtual std::int64_t fixed_set(std::int64_t /*item*/) const { return -1; }
    virtual std::int64_t fixed_sets() const { return 0; }

    std::int64_t epoch_of(std::int64_t item) const { return item / batches(); }
    std::int64_t batch_of(std::int64_t item) const { return item % batches(); }
};

struct ClusterBatchSettings {
    std::int64_t clusters_per_batch = 1;
    bool shuffle = true;  ///< the order of an epoch's clusters is drawn from (seed, epoch); else it is theirs
    std::uint64_t seed = 0;
    /// The n clusters are divided among so many workers for good: runs of ⌊n ÷ workers⌋, the first n mod workers with one
    /// more. Batch b is worker b mod workers', and its clusters are that worker's; `shuffle` draws their order within it.
    std::int64_t workers = 1;
};

/// The parts of a partition as clusters, some of them a batch; every epoch has each cluster once. (Cluster-GCN,
/// Algorithm 1: a batch is the subgraph of the union of q clusters drawn without replacement.) The last batch of an
/// epoch, or of each worker, has the clusters that are left.
class ClusterBatches final : public BatchSource {
public:
    /// `clusters` must outlive it.
    ClusterBatches(const IndexMap& clusters, const ClusterBatchSettings& settings);

    std::int64_t batches() const override;
    std::vector<GlobalId> vertices(std::int64_t item) const override;
    std::int64_t most_vertices() const override { return most_vertices_; }
    std::int64_t fixed_set(std::int64_t item) const override;
    std::int64_t fixed_sets() const override;

    /// Ascending.
    std::vector<Part> clusters_of(std::int64_t item) const;

private:
    /// Clusters [begin, end) of a worker.
    struct Run {
        std::int64_t begin, end;
        std::int64_t size() const { return end - begin; }
    };
    Run of_worker(std::int64_t worker) const;

    const IndexMap& clusters_;
    ClusterBatchSettings settings_;
    std::int64_t most_vertices_ = 0;
};

}  // namespace gnnbench
