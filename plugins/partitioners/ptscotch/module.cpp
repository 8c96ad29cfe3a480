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

struct Strategy {
    SCOTCH_Strat value{};
    const bool made = SCOTCH_stratInit(&value) == 0;
    Strategy() = default;
    Strategy(const Strategy&) = delete;
    Strategy& operator=(const Strategy&) = delete;
    ~Strategy() {
        if (made) SCOTCH_stratExit(&value);
    }
};

const char* part(SCOTCH_Graph& graph, const ScotchTask& task) {
    if (SCOTCH_graphBuild(&graph, 0, task.rows, task.offsets, nullptr, task.weights, nullptr,
                          task.offsets[task.rows], task.neighbours, nullptr) != 0)
        return "SCOTCH_graphBuild";
    Strategy strategy;
    if (!strategy.made) return "SCOTCH_stratInit";
    if (SCOTCH_stratGraphMapBuild(&strategy.value, task.flags, task.parts, task.imbalance) != 0)
        return "SCOTCH_stratGraphMapBuild";
    return SCOTCH_graphPart(&graph, task.parts, &strategy.value, task.part_of) == 0 ? nullptr : "SCOTCH_graphPart";
}

const char* part(SCOTCH_Dgraph& graph, const ScotchTask& task) {
    const SCOTCH_Num arcs = task.offsets[task.rows];
    if (SCOTCH_dgraphBuild(&graph, 0, task.rows, task.rows, task.offsets, nullptr, task.weights, nullptr, arcs,
                           arcs, task.neighbours, nullptr, nullptr) != 0)
        return "SCOTCH_dgraphBuild";
    Strategy strategy;
    if (!strategy.made) return "SCOTCH_stratInit";
    if (SCOTCH_stratDgraphMapBuild(&strategy.value, task.flags, task.group->size(), task.parts, task.imbalance) !=
        0)
        return "SCOTCH_stratDgraphMapBuild";
    return SCOTCH_dgraphPart(&graph, task.parts, &strategy.value, task.part_of) == 0 ? nullptr
                                                                                     : "SCOTCH_dgraphPart";
}

}  // namespace

const char* gnnbench_scotch_partition(const ScotchTask& task) {
    SCOTCH_randomSeed(static_cast<SCOTCH_Num>(task.seed & 0x7fffffff));
    SCOTCH_randomReset();
    const char* failed = nullptr;
    if (!task.group) {
        SCOTCH_Graph graph;
        if (SCOTCH_graphInit(&graph) != 0) return "SCOTCH_graphInit";
        failed = part(graph, task);
        SCOTCH_graphExit(&graph);
    } else {
        SCOTCH_Dgraph graph;
        if (SCOTCH_dgraphInit(&graph, *static_cast<MPI_Comm*>(task.group->native())) != 0)
            return "SCOTCH_dgraphInit";
        failed = part(graph, task);
        SCOTCH_dgraphExit(&graph);
    }
    return failed;
}
