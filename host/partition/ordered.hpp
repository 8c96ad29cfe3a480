#pragma once
#include <gnnbench/partition.hpp>

namespace gnnbench {

/// The parameter that the host gives every partitioner (see PluginCatalog::find), and its word for none.
inline constexpr const char* order_param = "order";
inline constexpr const char* natural_order = "natural";

/// What the partitioner makes of the task, checked (LogicError), with the order inside parts that the parameter `order`
/// asks for; `natural` leaves the partitioner's own, by default the original ids.
Partition partition_in_order(const Partitioner& partitioner, const PartitionTask& task);
/// Checks a partition, and puts the vertices of each part in the order that the task's parameters ask for.
void put_in_order(Partition& partition, const PartitionTask& task);

}  // namespace gnnbench
