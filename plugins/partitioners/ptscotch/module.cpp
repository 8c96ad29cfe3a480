// PT-Scotch: C. Chevalier and F. Pellegrini, "PT-Scotch: A tool for efficient parallel graph ordering", Parallel Computing
// 34 (2008); its partitioning by parallel recursive bipartitioning, which minimises the edge cut.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <ptscotch.h>

#include <gnnbench/process_group.hpp>

#include "module.hpp"

namespace {

using gnnbench::ScotchTask;

/// A function of Scotch that failed.
struct Failed {
    const char* function;
};
void check(int status, const char* function) {
    if (status != 0) throw Failed{function};
}

struct Strategy {
    SCOTCH_Strat value{};
    Strategy() { check(SCOTCH_stratInit(&value), "SCOTCH_stratInit"); }
    Strategy(const Strategy&) = delete;
    Strategy& operator=(const Strategy&) = delete;
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
    Context& operator=(const Context&) = delete;
    ~Context() { SCOTCH_contextExit(&value); }
};

struct Graph {
    SCOTCH_Graph value{};
    Graph() { check(SCOTCH_graphInit(&value), "SCOTCH_graphInit"); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() { SCOTCH_graphExit(&value); }
};
struct Dgraph {
    SCOTCH_Dgraph value{};
    explicit Dgraph(MPI_Comm ranks) { check(SCOTCH_dgraphInit(&value, ranks), "SCOTCH_dgraphInit"); }
    Dgraph(const Dgraph&) = delete;
    Dgraph& operator=(const Dgraph&) = delete;
    ~Dgraph() { SCOTCH_dgraphExit(&value); }
};

void by_this_process(const ScotchTask& task) {
    Context context(task.seed);
    Graph graph, bound;
    check(SCOTCH_graphBuild(&graph.value, 0, task.rows, task.offsets, nullptr, task.weights, nullptr,
                            task.offsets[task.rows], task.neighbours, nullptr),
          "SCOTCH_graphBuild");
    check(SCOTCH_contextBindGraph(&context.value, &graph.value, &bound.value), "SCOTCH_contextBindGraph");
    Strategy strategy;
    check(SCOTCH_stratGraphMapBuild(&strategy.value, task.flags, task.parts, task.imbalance),
          "SCOTCH_stratGraphMapBuild");
    check(SCOTCH_graphPart(&bound.value, task.parts, &strategy.value, task.part_of), "SCOTCH_graphPart");
}

void by_ranks(const ScotchTask& task) {
    const MPI_Comm ranks = *static_cast<MPI_Comm*>(task.group->native());
    const SCOTCH_Num arcs = task.offsets[task.rows];
    Context context(task.seed);
    Dgraph graph(ranks), bound(ranks);
    check(SCOTCH_dgraphBuild(&graph.value, 0, task.rows, task.rows, task.offsets, nullptr, task.weights, nullptr,
                             arcs, arcs, task.neighbours, nullptr, nullptr),
          "SCOTCH_dgraphBuild");
    check(SCOTCH_contextBindDgraph(&context.value, &graph.value, &bound.value), "SCOTCH_contextBindDgraph");
    Strategy strategy;
    check(SCOTCH_stratDgraphMapBuild(&strategy.value, task.flags, task.group->size(), task.parts, task.imbalance),
          "SCOTCH_stratDgraphMapBuild");
    check(SCOTCH_dgraphPart(&bound.value, task.parts, &strategy.value, task.part_of), "SCOTCH_dgraphPart");
}

}  // namespace

const char* gnnbench_scotch_partition(const ScotchTask& task) try {
    task.group ? by_ranks(task) : by_this_process(task);
    return nullptr;
} catch (const Failed& failed) {
    return failed.function;
}
