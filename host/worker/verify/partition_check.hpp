#pragma once
#include <gnnbench/partition.hpp>
#include <gnnbench/transport.hpp>

#include "check/ledger.hpp"

namespace gnnbench {

/// Asks a partitioner again for what it answered with `first`, which rank 0 has, and compares the answers (check
/// "partitioner"): trials of one cell are only comparable if they train on the same parts. Collective.
void check_partitioner(const Partition& first, const Partitioner& partitioner, const PartitionTask& task,
                       const ProcessGroup& group, Ledger& ledger);

}  // namespace gnnbench
