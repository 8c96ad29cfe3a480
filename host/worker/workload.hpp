#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/transpose.hpp>

#include "data/store.hpp"
#include "partition/cache.hpp"
#include "plugin/loader.hpp"
#include "spec/cell.hpp"
#include "worker/request.hpp"

namespace gnnbench {

/// A dataset that owns its memory, for a sample of a store.
struct OwnedDataset {
    std::string name;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<float> weights, features;
    RowArrays transpose = {};  ///< of a directed graph, or empty
    std::vector<std::int32_t> labels;
    std::vector<std::uint8_t> label_matrix = {};  ///< instead of labels, where a vertex may have several
    std::vector<Split> split;
    std::int64_t feature_count = 0;
    std::int32_t classes = 0;
    bool symmetric = false;

    DatasetView view() const;
};

/// The subgraph that the first `vertices` of a breadth-first walk induce, from a seeded train vertex and, where a
/// component ends, from the next seeded one; in ascending original order. The same on every rank.
OwnedDataset sample_dataset(const DatasetView& whole, std::int64_t vertices, std::uint64_t seed);

/// The cell's model with the dataset's widths. Throws DataError if the dataset has no labels or train vertices.
ModelSpec model_for(const Cell& cell, const DatasetView& data);

/// The data and settings of a trial.
struct Workload {
    Store store;
    std::optional<OwnedDataset> sample;  ///< used instead of the dataset if a sample is verified
    DatasetView data;                    ///< of whichever is used
    ModelSpec model;
    TrainSpec train;
    std::unique_ptr<ModelWeights> initial;  ///< null: drawn from the seed
};
/// A verification trains with settings of its own, on a sample if the reference would take too long. Checks the store's
/// blocks (check_shares). Collective.
Workload load_workload(const TrialRequest& request, const ProcessGroup& group);

/// Where a trial's partition is kept, and by which key.
struct PartitionPlace {
    PartitionCache cache;
    std::string key;
};

struct MadePartition {
    Partition partition;
    double wall_s = 0;  ///< that it took, now or when it was made
    bool kept = false;  ///< it was made earlier
};

/// Rank 0 partitions, or all ranks where the partitioner is distributed, unless the partition is kept in `place`
/// (none: nullptr); what took long is kept there. The partition is then on rank 0. Collective; if rank 0 fails, all throw an
/// error of its kind. Checks the partition; `task.processes` is set here.
MadePartition partition_on_root(const Partitioner& partitioner, const PartitionTask& task,
                                const ProcessGroup& group, const PartitionPlace* place);
/// The index map of rank 0's partition, on every rank; its arrays are once in memory on each host. Collective. `cost`:
/// what receiving it took.
IndexMap shared_index(const Partition& partition, const ProcessGroup& group, SetupPart& cost);
/// The whole partition on every rank, for tests and benchmarks.
Partition make_partition(const Partitioner& partitioner, const PartitionTask& task, const ProcessGroup& group);

/// The weights a cell starts from: W<l>.npy and b<l>.npy of a folder; null where the folder is empty text.
std::unique_ptr<ModelWeights> read_weights(const std::string& folder, const ModelSpec& model);

/// The plugins of a cell, verified to be the same on all ranks. Collective.
struct CellPlugins {
    std::unique_ptr<Strategy> strategy;
    std::unique_ptr<Partitioner> partitioner;
    std::unique_ptr<BackendPlugin> backend;
};
CellPlugins load_plugins(const Cell& cell, const PluginCatalog& catalog, const ProcessGroup& group);

/// The setting for this rank's back end.
KernelSetting kernel_setting(const Cell& cell, const ProcessGroup& group);

/// How good the partition is: each rank measures some of the parts. Collective.
PartitionQuality quality_of(const GraphView& graph, const IndexMap& index, const ProcessGroup& group);

}  // namespace gnnbench
