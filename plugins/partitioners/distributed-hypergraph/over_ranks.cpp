#include "distributed-hypergraph/over_ranks.hpp"

namespace gnnbench::distributed {

Partition PartitionerOverRanks::partition(const PartitionTask& task) const {
    const Ranks ranks(task.processes);
    const GraphView& graph = task.dataset.graph;
    const RowRange rows = rows_of_rank(graph, ranks.count(), ranks.rank());
    const bool trivial = task.need.parts == 1 || graph.vertices() == 0;
    return {.parts = task.need.parts,
            .part_of = trivial ? std::vector<Part>(usize(rows.count())) : parts_of(task, ranks, rows),
            .column_part_of = {}};
}

std::uint64_t seed_of(const PartitionTask& task) {
    const std::int64_t seed = task.params.integer("seed");
    return seed < 0 ? task.seed : static_cast<std::uint64_t>(seed);
}

std::int64_t part_limit(const PartitionTask& task, std::int64_t total_weight) {
    const std::int64_t mean = (total_weight + task.need.parts - 1) / task.need.parts;
    // 1.15 · 100 is 114.99…, and the imbalance that a message names must do.
    return mean +
           static_cast<std::int64_t>(task.params.real("imbalance") * static_cast<double>(mean) * (1 + 1e-12));
}

}  // namespace gnnbench::distributed
