#include "partition/ordered.hpp"

#include <gnnbench/ordering.hpp>

namespace gnnbench {
namespace {

/// Empty: as it is.
std::vector<std::int32_t> wanted_order(const PartitionTask& task) {
    const auto& values = task.params.values();
    const auto found = values.find(order_param);
    const std::string word = found == values.end() ? natural_order : to_text(found->second);
    const GraphView& graph = task.dataset.graph;
    if (word == "random") return random_order(graph.vertices(), task.seed);
    if (word == "degree") return degree_order(graph);
    if (word == "rcm") return reverse_cuthill_mckee_order(Undirected(graph));
    return {};
}

}  // namespace

void put_in_order(Partition& p, const PartitionTask& task) {
    const GraphView& graph = task.dataset.graph;
    check_partition(p, task.need, {graph.vertices(), graph.edges()});
    if (auto order = wanted_order(task); !order.empty()) p.order = std::move(order);
}

Partition partition_in_order(const Partitioner& partitioner, const PartitionTask& task) {
    Partition p = partitioner.partition(task);
    put_in_order(p, task);
    return p;
}

}  // namespace gnnbench
