// HP: the hypergraph model of Demirci, Haldar and Ferhatosmanoglu, "Scalable Graph Convolutional Network Training on
// Distributed-Memory Systems", PVLDB 16 (2022), section 4.3.2, partitioned by our own multilevel method (README.md).
#include <optional>

#include <fmt/format.h>

#include <gnnbench/partition.hpp>

#include "balance.hpp"
#include "multilevel.hpp"
#include "nets.hpp"
#include "partitioned.hpp"
#include "sending.hpp"

namespace gnnbench {
namespace {

constexpr ParamDecl declared[] = {
    {"imbalance", ParamType::real, "0.01", 0, 10, nullptr, "how much heavier than the mean a part may be"},
    {"weights", ParamType::choice, "nonzeros", 0, 0, "nonzeros|none",
     "what is balanced: the entries of rows with their diagonal, or vertices"},
    {"seed", ParamType::integer, "-1", -1, 2147483647, nullptr, "the random seed; -1: the cell's seed"},
    {"preset", ParamType::choice, "default", 0, 0, "default|quality|gvb",
     "quality: less volume for more time; gvb: objective max_volume, as Graph-VB balances volumes"},
    {"nets", ParamType::choice, "columns", 0, 0, "columns|rows|both",
     "whose volume is lowered on a directed graph: columns, the forward product's; rows, the backward one's; "
     "both, "
     "their sum, for about twice the time and memory"},
    {"objective", ParamType::choice, "volume", 0, 0, "volume|max_volume|messages",
     "what is lowered besides the volume, which may rise for it by 5%: the most that a part sends, or the "
     "messages"},
};

/// What is lowered besides the volume; nothing where that is all.
std::optional<hypergraph::Sending> besides_volume(const Params& params) {
    if (params.choice("objective") == "messages") return hypergraph::Sending::messages;
    if (params.choice("objective") == "max_volume" || params.choice("preset") == "gvb")
        return hypergraph::Sending::max_volume;
    return std::nullopt;
}

hypergraph::Nets nets_of(const Params& params) {
    const std::string& nets = params.choice("nets");
    if (nets == "both") return hypergraph::Nets::both;
    return nets == "rows" ? hypergraph::Nets::rows : hypergraph::Nets::columns;
}

class HypergraphPartitioner final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need,
                                const Params& params) const override {
        if (params.choice("preset") == "gvb" && params.choice("objective") == "messages")
            return "preset gvb has objective max_volume; found messages";
        if (params.choice("objective") == "messages" && need.parts > hypergraph::most_parts_for_messages)
            return fmt::format(
                "objective messages keeps a count for each pair of parts: at most {} parts; {} given",
                hypergraph::most_parts_for_messages, need.parts);
        return why_not_alike_and_filled(graph, need);
    }

    Partition partition(const PartitionTask& task) const override {
        const GraphView& graph = task.dataset.graph;
        const Part parts = task.need.parts;
        Partition result{
            .parts = parts, .part_of = std::vector<Part>(usize(graph.vertices())), .column_part_of = {}};
        if (parts == 1 || graph.vertices() == 0) return result;

        const std::int64_t seed = task.params.integer("seed");
        const bool unit_weights = task.params.choice("weights") == "none";
        const hypergraph::Nets nets = nets_of(task.params);
        hypergraph::Hypergraph h = hypergraph::product_nets(graph, nets, unit_weights);
        const hypergraph::Weight limit = hypergraph::part_limit(h, parts, task.params.real("imbalance"));
        result.part_of = hypergraph::partition_multilevel(
            std::move(h), parts, limit,
            task.params.choice("preset") == "quality" ? hypergraph::quality : hypergraph::fast,
            seed < 0 ? task.seed : static_cast<std::uint64_t>(seed));
        if (const auto objective = besides_volume(task.params)) {
            h = hypergraph::separate_product_nets(graph, nets, unit_weights);
            hypergraph::Partitioned partition(h, parts, std::move(result.part_of));
            lower_sending(partition, *objective, {.part_weight = limit});
            result.part_of = std::move(partition).take();
        }
        fill_empty_parts(graph, result);
        return result;
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::HypergraphPartitioner, "hypergraph", "1.1.0",
                "multilevel k-way partitioning by connectivity−1, the communication volume", gnnbench::declared)
