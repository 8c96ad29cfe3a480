// `hypergraph` over ranks, none of which holds the graph (README.md).
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "multilevel.hpp"

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

/// (1 + imbalance) · ⌈mean⌉. Throws Unsupported, on all ranks, where a row is heavier.
Weight part_limit(const Ranks& ranks, const distributed::Level& level, Part parts, double imbalance) {
    const Weight mean = (level.total_weight + parts - 1) / parts;
    const auto limit = static_cast<Weight>((1 + imbalance) * static_cast<double>(mean));
    Weight heaviest = 0;
    for (const Weight w : level.vertex_weight) heaviest = std::max(heaviest, w);
    heaviest = ranks.maximum(heaviest);
    if (heaviest > limit)
        throw Unsupported(fmt::format(
            "{} parts can't be balanced within imbalance {}: a row has {} of {} nonzeros, the mean part {}. An "
            "imbalance of {:.2f} would do, or weights: none, or fewer parts.",
            parts, imbalance, heaviest, level.total_weight, mean,
            std::ceil(100 * (static_cast<double>(heaviest) / static_cast<double>(mean) - 1)) / 100));
    return limit;
}

class DistributedHypergraph final : public Partitioner {
public:
    bool distributed() const override { return true; }

    std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need, const Params&) const override {
        return why_not_alike_and_filled(graph, need);
    }

    Partition partition(const PartitionTask& task) const override {
        const Ranks ranks(task.processes);
        const GraphView& graph = task.dataset.graph;
        const RowRange rows = rows_of_rank(graph, ranks.count(), ranks.rank());
        Partition result{
            .parts = task.need.parts, .part_of = std::vector<Part>(usize(rows.count())), .column_part_of = {}};
        if (task.need.parts == 1 || graph.vertices() == 0) return result;
        distributed::Level level = column_nets(ranks, graph, task.params.choice("weights") == "none");
        const Weight limit = part_limit(ranks, level, task.need.parts, task.params.real("imbalance"));
        const std::int64_t seed = task.params.integer("seed");
        result.part_of = distributed::partition(ranks, std::move(level),
                                                {.parts = task.need.parts,
                                                 .limit = limit,
                                                 .most_pins = task.params.integer("coarse_entries"),
                                                 .seed = seed < 0 ? task.seed : static_cast<std::uint64_t>(seed)});
        return result;
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::DistributedHypergraph, "distributed-hypergraph", "1.0.0",
                "multilevel k-way partitioning by connectivity−1 over ranks, none of which holds the graph",
                gnnbench::declared)
