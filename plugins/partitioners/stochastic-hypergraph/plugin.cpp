// SHP: the stochastic hypergraph model of Demirci, Haldar and Ferhatosmanoglu, "Scalable Graph Convolutional Network
// Training on Distributed-Memory Systems", PVLDB 16(4), 2022, section 4.3.3, Algorithm 3.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include <gnnbench/batches/sampled.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/undirected.hpp>
#include <gnnbench/usize.hpp>

#include "balance.hpp"
#include "merged_nets.hpp"
#include "multilevel.hpp"
#include "nets_needed.hpp"
#include "random.hpp"
#include "unsampled.hpp"

namespace gnnbench::stochastic {
namespace {

constexpr ParamDecl declared[] = {
    {"sampler", ParamType::choice, "vertices", 0, 0, "vertices|neighbours",
     "the batches to partition for, as strategy minibatch-p2p draws them"},
    {"batch_vertices", ParamType::integer, "1000", 1, 1 << 30, nullptr,
     "vertices of a batch; of sampler neighbours, its train vertices"},
    {"fan_out", ParamType::integer, "10", 1, 1024, nullptr,
     "sampler neighbours: how many are drawn of each vertex"},
    {"theta", ParamType::real, "0.1", 1e-6, 1e6, nullptr, "error allowed in the mean connectivity (equation 14)"},
    {"delta", ParamType::real, "0.5", 1e-9, 1, nullptr, "probability of a larger error (equation 14)"},
    {"coverage", ParamType::real, "0", 0, 1e6, nullptr,
     "at least so many batches that an edge is sampled so often, on average; of sampler neighbours, epochs"},
    {"batches", ParamType::integer, "-1", -1, 1 << 30, nullptr,
     "how many are drawn; -1: by theta, delta and coverage"},
    {"expected_nets", ParamType::boolean, "true", 0, 0, nullptr,
     "an entry that no batch has counts as if one had it; false: sampled nets alone, as in Algorithm 3"},
    {"unsampled", ParamType::choice, "balance", 0, 0, "balance|random|neighbours",
     "where vertices without a net go: wherever balance takes them, at random, or to most of their neighbours"},
    {"imbalance", ParamType::real, "0.01", 0, 10, nullptr, "how much heavier than the mean a part may be"},
    {"weights", ParamType::choice, "nonzeros", 0, 0, "nonzeros|none",
     "what is balanced: the entries of rows with their diagonal, or vertices"},
    {"preset", ParamType::choice, "default", 0, 0, "default|quality", "quality: less volume for more time"},
    {"seed", ParamType::integer, "-1", -1, 2147483647, nullptr, "the random seed; -1: the cell's seed"},
};

/// Training with the same seed draws other batches, so that what it communicates is a test of the partition.
std::uint64_t sampling_seed(std::uint64_t seed) { return hypergraph::mixed(seed, 0x53485000); }

std::unique_ptr<BatchSource> source_of(const PartitionTask& task, std::uint64_t seed) {
    constexpr int unknown_model_hops = 2;
    return make_sampled_source(task.dataset, task.params,
                               task.model.widths.empty() ? unknown_model_hops : task.model.layers(), seed);
}

std::int64_t saturated(double x) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    return x < static_cast<double>(most) ? static_cast<std::int64_t>(std::ceil(x)) : most;
}

/// `batches` where given; else the nets of equation 14, and the batches of `coverage`: one has an edge with probability
/// (batch / n)².
SampleSize size_of(const PartitionTask& task, const BatchSource& source) {
    if (const std::int64_t given = task.params.integer("batches"); given >= 0)
        return {.batches = given, .nets = 0};
    const double coverage = task.params.real("coverage");
    const double share = static_cast<double>(source.most_vertices()) /
                         static_cast<double>(std::max<std::int64_t>(1, task.dataset.graph.vertices()));
    const double covering = task.params.choice("sampler") == "vertices"
                                ? coverage / (share * share)
                                : coverage * static_cast<double>(source.batches());
    return {.batches = saturated(covering),
            .nets = saturated(nets_needed(task.need.parts, task.params.real("theta"), task.params.real("delta")))};
}

class StochasticHypergraph final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need, const Params&) const override {
        return why_not_alike_and_filled(graph, need);
    }

    Partition partition(const PartitionTask& task) const override {
        const GraphView& graph = task.dataset.graph;
        const Part parts = task.need.parts;
        Partition result{
            .parts = parts, .part_of = std::vector<Part>(usize(graph.vertices())), .column_part_of = {}};
        if (parts == 1 || graph.vertices() == 0) return result;

        const std::int64_t own = task.params.integer("seed");
        const std::uint64_t seed = own < 0 ? task.seed : static_cast<std::uint64_t>(own);
        const std::unique_ptr<BatchSource> source = source_of(task, sampling_seed(seed));
        MergedNets sample = merge_nets(graph, *source, size_of(task, *source),
                                       task.params.choice("weights") == "none"
                                           ? std::vector<hypergraph::Weight>(usize(graph.vertices()), 1)
                                           : row_nonzeros(graph));
        hypergraph::Hypergraph nets = task.params.boolean("expected_nets")
                                          ? with_expected_nets(graph, std::move(sample))
                                          : std::move(sample.hypergraph);
        const WithoutNet unsampled = without_net(nets);
        const hypergraph::Weight limit = hypergraph::part_limit(nets, parts, task.params.real("imbalance"));
        result.part_of = partition_multilevel(
            std::move(nets), parts, limit,
            task.params.choice("preset") == "quality" ? hypergraph::quality : hypergraph::fast, seed);
        place(graph, unsampled, unsampled_of(task.params.choice("unsampled")), limit, seed, result);
        fill_empty_parts(graph, result);
        return result;
    }
};

}  // namespace
}  // namespace gnnbench::stochastic

GNNBENCH_PLUGIN(partitioner, gnnbench::stochastic::StochasticHypergraph, "stochastic-hypergraph", "1.2.0",
                "the stochastic hypergraph model for mini-batches (Demirci et al., PVLDB 2022)",
                gnnbench::stochastic::declared)
