#pragma once
#include <string>
#include <vector>

#include <gnnbench/partition.hpp>

#include "distributed-hypergraph/ranks.hpp"

namespace gnnbench::distributed {

/// A partitioner whose ranks each have their rows: what is the same for all of them.
class PartitionerOverRanks : public Partitioner {
public:
    bool distributed() const final { return true; }
    std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need, const Params&) const override {
        return why_not_alike_and_filled(graph, need);
    }
    Partition partition(const PartitionTask& task) const final;

private:
    /// Of this rank's rows, of a graph that has vertices, in two parts or more. Collective.
    virtual std::vector<Part> parts_of(const PartitionTask& task, const Ranks& ranks, RowRange rows) const = 0;
};

/// The parameter `seed`, or the cell's seed where that is -1.
std::uint64_t seed_of(const PartitionTask& task);

/// (1 + the parameter `imbalance`) · ⌈mean⌉: what a part may weigh.
std::int64_t part_limit(const PartitionTask& task, std::int64_t total_weight);

}  // namespace gnnbench::distributed
