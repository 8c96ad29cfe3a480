// HP: the hypergraph model of Demirci, Haldar and Ferhatosmanoglu, "Scalable Graph Convolutional Network Training on
// Distributed-Memory Systems", PVLDB 16 (2022), section 4.3.2, partitioned by our own multilevel method (README.md).
#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "balance.hpp"
#include "multilevel.hpp"

namespace gnnbench {
namespace {

constexpr ParamDecl declared[] = {
    {"imbalance", ParamType::real, "0.01", 0, 10, nullptr, "how much heavier than the mean a part may be"},
    {"weights", ParamType::choice, "nonzeros", 0, 0, "nonzeros|none",
     "what is balanced: the entries of rows with their diagonal, or vertices"},
    {"seed", ParamType::integer, "-1", -1, 2147483647, nullptr, "the random seed; -1: the cell's seed"},
    {"preset", ParamType::choice, "default", 0, 0, "default|quality", "quality: less volume for more time"},
};

class HypergraphPartitioner final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need, const Params&) const override {
        if (need.column_parts > 0)
            return "orders rows and columns alike; this scheme needs columns partitioned apart";
        if (need.parts > 1 && need.parts > graph.vertices)
            return fmt::format("cannot make {} parts of {} vertices", need.parts, graph.vertices);
        return {};
    }

    Partition partition(const PartitionTask& task) const override {
        const GraphView& graph = task.dataset.graph;
        const Part parts = task.need.parts;
        Partition result{
            .parts = parts, .part_of = std::vector<Part>(usize(graph.vertices())), .column_part_of = {}};
        if (parts == 1 || graph.vertices() == 0) return result;

        const std::int64_t seed = task.params.integer("seed");
        const hypergraph::Hypergraph h = hypergraph::column_nets(graph, task.params.choice("weights") == "none");
        const hypergraph::Weight limit = hypergraph::part_limit(h, parts, task.params.real("imbalance"));
        result.part_of = hypergraph::partition_multilevel(
            h, parts, limit, task.params.choice("preset") == "quality" ? hypergraph::quality : hypergraph::fast,
            seed < 0 ? task.seed : static_cast<std::uint64_t>(seed));
        return result;
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::HypergraphPartitioner, "hypergraph", "1.0.0",
                "multilevel k-way partitioning by connectivity−1, the communication volume", gnnbench::declared)
