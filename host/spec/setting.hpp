#pragma once
#include <cstdint>
#include <optional>

#include <gnnbench/partition.hpp>

#include "spec/cell.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// What is known about a dataset without reading its arrays.
struct DatasetFacts {
    GraphSize size;
    std::int64_t features = 0, classes = 0;
};

/// A cell's model and training as passed to a strategy: widths and weight decay are complete. If
/// the dataset is not known, the widest hidden layer (or 16) stands in for features and classes.
struct Question {
    Question(const Cell& cell, const std::optional<DatasetFacts>& dataset);
    ModelSpec model;
    TrainSpec train;
};

/// Widths from features to classes, weight decay one per layer: what a trial runs with.
ModelSpec complete_model(const Cell& cell, std::int64_t features, std::int64_t classes);
TrainSpec complete_train(const Cell& cell);

/// Why this cell cannot run: the scheme's, the partitioner's or the kernel's reason, or the model's own. Empty if it
/// can, as far as known: without `dataset`, checks that need the graph's size are left out; programs are not asked.
std::string why_unsupported(const Cell& cell, const std::optional<DatasetFacts>& dataset,
                            const PluginSource& plugins);
/// The same without the kernel, whose answer depends on the host.
std::string why_unsupported_without_kernel(const Cell& cell, const std::optional<DatasetFacts>& dataset,
                                           const PluginSource& plugins);
/// Why the slowdown that a cell declares is not possible; empty if it is, or where none is declared.
std::string why_not_slowed(const Cell& cell, const Strategy& strategy);
/// Why this cell cannot run on a graph that is only expected; empty if it can, or where the graph is there.
std::string why_not_expected(const Cell& cell, const Strategy& strategy, const PartitionNeed& need);
/// Whether a cell with simulated ranks has them compute values.
bool simulates_values(const Cell& cell);
std::string why_kernel_unsupported(const Cell& cell, const PluginSource& plugins);

}  // namespace gnnbench
