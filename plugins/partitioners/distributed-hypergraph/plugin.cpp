// `hypergraph` over ranks, none of which holds the graph (README.md).
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "distributed-hypergraph/multilevel.hpp"
#include "distributed-hypergraph/over_ranks.hpp"

namespace gnnbench {
namespace {

constexpr ParamDecl declared[] = {
    {"imbalance", ParamType::real, "0.01", 0, 10, nullptr, "how much heavier than the mean a part may be"},
    {"weights", ParamType::choice, "nonzeros", 0, 0, "nonzeros|none",
     "what is balanced: the entries of rows with their diagonal, or vertices"},
    {"seed", ParamType::integer, "-1", -1, 2147483647, nullptr, "the random seed; -1: the cell's seed"},
    {"coarse_entries", ParamType::integer, "100000", 1, 2147483647, nullptr,
     "entries of the coarse hypergraph that each rank gets whole"},
};

using distributed::Ranks;
using distributed::Weight;

/// Throws Unsupported, on all ranks, where a row is heavier than a part may be.
void require_rows_fit(const Ranks& ranks, const distributed::Level& level, const PartitionTask& task,
                      Weight limit) {
    Weight heaviest = 0;
    for (const Weight w : level.vertex_weight) heaviest = std::max(heaviest, w);
    heaviest = ranks.maximum(heaviest);
    if (heaviest <= limit) return;
    const Weight mean = (level.total_weight + task.need.parts - 1) / task.need.parts;
    throw Unsupported(fmt::format(
        "{} parts can't be balanced within imbalance {}: a row has {} of {} nonzeros, the mean part {}. An "
        "imbalance of {:.2f} would do, or weights: none, or fewer parts.",
        task.need.parts, task.params.real("imbalance"), heaviest, level.total_weight, mean,
        std::ceil(100 * (static_cast<double>(heaviest) / static_cast<double>(mean) - 1)) / 100));
}

class DistributedHypergraph final : public distributed::PartitionerOverRanks {
    std::vector<Part> parts_of(const PartitionTask& task, const Ranks& ranks, RowRange) const override {
        distributed::Level level = column_nets(ranks, task.dataset.graph, task.params.choice("weights") == "none");
        const Weight limit = distributed::part_limit(task, level.total_weight);
        require_rows_fit(ranks, level, task, limit);
        return distributed::partition(ranks, std::move(level),
                                      {.parts = task.need.parts,
                                       .limit = limit,
                                       .most_pins = task.params.integer("coarse_entries"),
                                       .seed = distributed::seed_of(task)});
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::DistributedHypergraph, "distributed-hypergraph", "1.0.0",
                "multilevel k-way partitioning by connectivity−1 over ranks, none of which holds the graph",
                gnnbench::declared)
