// PT-Scotch: C. Chevalier and F. Pellegrini, "PT-Scotch: A tool for efficient parallel graph ordering", Parallel Computing
// 34 (2008); its partitioning by parallel recursive bipartitioning, which minimises the edge cut.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <ptscotch.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "distributed-hypergraph/level.hpp"
#include "distributed-hypergraph/rebalance.hpp"
#include "distributed-hypergraph/turned.hpp"

namespace gnnbench {
namespace {

using distributed::Incidence;
using distributed::Ranks;

constexpr ParamDecl declared[] = {
    {"imbalance", ParamType::real, "0.03", 0.001, 1, nullptr, "how much heavier than the mean a part may be"},
    {"weights", ParamType::choice, "none", 0, 0, "none|nonzeros",
     "what is balanced: vertices, or the entries of their rows"},
    {"strategy", ParamType::choice, "default", 0, 0, "default|quality|speed", "of Scotch"},
    {"seed", ParamType::integer, "-1", -1, 2147483647, nullptr, "Scotch's random seed; -1: the cell's seed"},
};

void check(int status, const char* call) {
    if (status != 0) throw Error(fmt::format("PT-Scotch failed in {} (code {})", call, status));
}

SCOTCH_Num flags_of(const Params& params) {
    const std::string& strategy = params.choice("strategy");
    if (strategy == "quality") return SCOTCH_STRATQUALITY;
    return strategy == "speed" ? SCOTCH_STRATSPEED : SCOTCH_STRATDEFAULT;
}

struct Strategy {
    SCOTCH_Strat value{};
    Strategy() { check(SCOTCH_stratInit(&value), "SCOTCH_stratInit"); }
    Strategy(const Strategy&) = delete;
    ~Strategy() { SCOTCH_stratExit(&value); }
};

/// One thread, so that the same seed gives the same parts.
struct Context {
    SCOTCH_Context value{};
    explicit Context(std::uint64_t seed) {
        check(SCOTCH_contextInit(&value), "SCOTCH_contextInit");
        check(SCOTCH_contextOptionSetNum(&value, SCOTCH_OPTIONNUMDETERMINISTIC, 1), "SCOTCH_contextOptionSetNum");
        check(SCOTCH_contextThreadSpawn(&value, 1, nullptr), "SCOTCH_contextThreadSpawn");
        SCOTCH_contextRandomSeed(&value, static_cast<SCOTCH_Num>(seed & 0x7fffffff));
        SCOTCH_contextRandomReset(&value);
    }
    Context(const Context&) = delete;
    ~Context() { SCOTCH_contextExit(&value); }
};

/// This rank's rows of the undirected graph, without diagonals, and what its vertices weigh, in Scotch's arrays.
struct Rows {
    std::vector<SCOTCH_Num> offsets{0}, neighbours, weights;
};

Rows undirected_rows(const Ranks& ranks, const GraphView& graph, bool by_nonzeros) {
    const std::vector<std::int64_t> first = distributed::first_rows(ranks, graph);
    const auto own_first = static_cast<distributed::Id>(first[usize(ranks.rank())]);
    const Incidence rows = distributed::rows_with_diagonal(ranks, graph);
    const Incidence columns = graph.symmetric ? Incidence() : distributed::turned(ranks, rows, own_first, first);
    Rows out;
    std::vector<distributed::Id> both;
    for (std::size_t v = 0; v + 1 < rows.offsets.size(); ++v) {
        const auto own = static_cast<distributed::Id>(v);
        both.clear();
        if (graph.symmetric)
            both.assign(rows.of(own).begin(), rows.of(own).end());
        else
            std::ranges::set_union(rows.of(own), columns.of(own), std::back_inserter(both));
        for (const distributed::Id u : both)
            if (u != own_first + own) out.neighbours.push_back(static_cast<SCOTCH_Num>(u));
        out.offsets.push_back(static_cast<SCOTCH_Num>(out.neighbours.size()));
        if (by_nonzeros) out.weights.push_back(static_cast<SCOTCH_Num>(rows.size(own)));
    }
    if (const std::int64_t arcs = ranks.sum(std::ssize(out.neighbours));
        arcs > std::numeric_limits<SCOTCH_Num>::max())
        throw Unsupported(
            fmt::format("ptscotch counts entries in {} bits: the graph made symmetric has {}, fewer would do",
                        8 * sizeof(SCOTCH_Num), arcs));
    out.neighbours.reserve(1);  // an address even if there are no edges
    return out;
}

class PtScotch final : public Partitioner {
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
        const bool by_nonzeros = task.params.choice("weights") == "nonzeros";
        Rows arrays = undirected_rows(ranks, graph, by_nonzeros);
        const std::int64_t seed = task.params.integer("seed");
        Context context(seed < 0 ? task.seed : static_cast<std::uint64_t>(seed));
        const std::vector<SCOTCH_Num> parts =
            ranks.count() == 1 ? by_scotch(context, arrays, task) : by_ranks(context, arrays, task, ranks);
        std::ranges::copy(parts, result.part_of.begin());
        arrays = {};
        keep_balance(ranks, task, result.part_of);
        return result;
    }

private:
    static std::vector<SCOTCH_Num> by_scotch(Context& context, Rows& rows, const PartitionTask& task) {
        const auto own = static_cast<SCOTCH_Num>(rows.offsets.size()) - 1;
        std::vector<SCOTCH_Num> parts(rows.offsets.size() - 1);
        SCOTCH_Graph graph, bound;
        check(SCOTCH_graphInit(&graph), "SCOTCH_graphInit");
        check(SCOTCH_graphInit(&bound), "SCOTCH_graphInit");
        check(SCOTCH_graphBuild(&graph, 0, own, rows.offsets.data(), nullptr,
                                rows.weights.empty() ? nullptr : rows.weights.data(), nullptr,
                                static_cast<SCOTCH_Num>(rows.neighbours.size()), rows.neighbours.data(), nullptr),
              "SCOTCH_graphBuild");
        check(SCOTCH_contextBindGraph(&context.value, &graph, &bound), "SCOTCH_contextBindGraph");
        Strategy strategy;
        check(SCOTCH_stratGraphMapBuild(&strategy.value, flags_of(task.params), task.need.parts,
                                        task.params.real("imbalance")),
              "SCOTCH_stratGraphMapBuild");
        const int status = SCOTCH_graphPart(&bound, task.need.parts, &strategy.value, parts.data());
        SCOTCH_graphExit(&bound);
        SCOTCH_graphExit(&graph);
        check(status, "SCOTCH_graphPart");
        return parts;
    }

    static std::vector<SCOTCH_Num> by_ranks(Context& context, Rows& rows, const PartitionTask& task,
                                            const Ranks& ranks) {
        const auto own = static_cast<SCOTCH_Num>(rows.offsets.size()) - 1;
        const auto arcs = static_cast<SCOTCH_Num>(rows.neighbours.size());
        std::vector<SCOTCH_Num> parts(rows.offsets.size());  // an address even without rows
        SCOTCH_Dgraph graph, bound;
        check(SCOTCH_dgraphInit(&graph, *static_cast<MPI_Comm*>(task.processes->native())), "SCOTCH_dgraphInit");
        check(SCOTCH_dgraphInit(&bound, *static_cast<MPI_Comm*>(task.processes->native())), "SCOTCH_dgraphInit");
        check(SCOTCH_dgraphBuild(&graph, 0, own, own, rows.offsets.data(), nullptr,
                                 rows.weights.empty() ? nullptr : rows.weights.data(), nullptr, arcs, arcs,
                                 rows.neighbours.data(), nullptr, nullptr),
              "SCOTCH_dgraphBuild");
        check(SCOTCH_contextBindDgraph(&context.value, &graph, &bound), "SCOTCH_contextBindDgraph");
        Strategy strategy;
        check(SCOTCH_stratDgraphMapBuild(&strategy.value, flags_of(task.params), ranks.count(), task.need.parts,
                                         task.params.real("imbalance")),
              "SCOTCH_stratDgraphMapBuild");
        const int status = SCOTCH_dgraphPart(&bound, task.need.parts, &strategy.value, parts.data());
        SCOTCH_dgraphExit(&bound);
        SCOTCH_dgraphExit(&graph);
        check(status, "SCOTCH_dgraphPart");
        parts.resize(usize(own));
        return parts;
    }

    /// Scotch exceeds the imbalance on some graphs, and may leave parts empty.
    static void keep_balance(const Ranks& ranks, const PartitionTask& task, std::vector<Part>& part_of) {
        const distributed::Level level =
            column_nets(ranks, task.dataset.graph, task.params.choice("weights") == "none");
        const std::int64_t mean = (level.total_weight + task.need.parts - 1) / task.need.parts;
        distributed::Partitioned partition(ranks, level, task.need.parts, std::move(part_of));
        rebalance(ranks, partition,
                  static_cast<std::int64_t>((1 + task.params.real("imbalance")) * static_cast<double>(mean)));
        fill_empty_parts(ranks, partition);
        part_of = partition.own_parts();
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::PtScotch, "ptscotch", "1.0.0",
                "parallel recursive bipartitioning by edge cut, by the PT-Scotch library over ranks",
                gnnbench::declared)
