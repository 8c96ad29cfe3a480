// The plugin: the graph in Scotch's arrays, and the balance of what comes back. PT-Scotch itself is called by a library of its
// own (module.hpp), which is loaded when it is needed, so that who only lists plugins loads no MPI.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>

#include <dlfcn.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "distributed-hypergraph/level.hpp"
#include "distributed-hypergraph/over_ranks.hpp"
#include "distributed-hypergraph/rebalance.hpp"
#include "distributed-hypergraph/turned.hpp"
#include "module.hpp"

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

SCOTCH_Num flags_of(const Params& params) {
    const std::string& strategy = params.choice("strategy");
    if (strategy == "quality") return SCOTCH_STRATQUALITY;
    return strategy == "speed" ? SCOTCH_STRATSPEED : SCOTCH_STRATDEFAULT;
}

/// Loads the library that calls PT-Scotch, from beside the folder of plugins. It stays loaded, since MPI may not be unloaded.
ScotchPartition scotch_partition() {
    Dl_info here{};
    dladdr(reinterpret_cast<const void*>(&scotch_partition), &here);
    const std::string file =
        (std::filesystem::path(here.dli_fname).parent_path().parent_path() / "mpi" / "libptscotch_calls.so")
            .string();
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void* const function = library ? dlsym(library, "gnnbench_scotch_partition") : nullptr;
    if (!function) throw EnvironmentError(fmt::format("ptscotch cannot load PT-Scotch: {}", dlerror()));
    return reinterpret_cast<ScotchPartition>(function);
}

/// Two MPI libraries in one process end in a crash.
void require_its_mpi(const ProcessGroup& group) {
    const std::string its = GNNBENCH_PTSCOTCH_MPI, found = group.library();
    if (!found.starts_with(its))
        throw Unsupported(fmt::format("ptscotch was built for {}, and the ranks are of {}", its, found));
}

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

class PtScotch final : public distributed::PartitionerOverRanks {
    std::vector<Part> parts_of(const PartitionTask& task, const Ranks& ranks, RowRange rows) const override {
        std::vector<Part> result = by_scotch(task, ranks, rows);
        keep_balance(ranks, task, result);
        return result;
    }

    static std::vector<Part> by_scotch(const PartitionTask& task, const Ranks& ranks, RowRange rows) {
        Rows arrays = undirected_rows(ranks, task.dataset.graph, task.params.choice("weights") == "nonzeros");
        std::vector<SCOTCH_Num> parts(arrays.offsets.size());
        const ScotchTask asked{
            .rows = static_cast<SCOTCH_Num>(rows.count()),
            .offsets = arrays.offsets.data(),
            .neighbours = arrays.neighbours.data(),
            .weights = arrays.weights.empty() ? nullptr : arrays.weights.data(),
            .parts = task.need.parts,
            .flags = flags_of(task.params),
            .imbalance = task.params.real("imbalance"),
            .seed = distributed::seed_of(task),
            .group = ranks.count() == 1 ? nullptr : task.processes,
            .part_of = parts.data(),
        };
        if (asked.group) require_its_mpi(*asked.group);
        if (const char* failed = scotch_partition()(asked))
            throw Error(fmt::format("PT-Scotch failed in {}", failed));
        return {parts.begin(), parts.end() - 1};
    }

    /// Scotch exceeds the imbalance on some graphs, and may leave parts empty.
    static void keep_balance(const Ranks& ranks, const PartitionTask& task, std::vector<Part>& part_of) {
        const distributed::Level level =
            column_nets(ranks, task.dataset.graph, task.params.choice("weights") == "none");
        distributed::Partitioned partition(ranks, level, task.need.parts, std::move(part_of));
        rebalance(ranks, partition, distributed::part_limit(task, level.total_weight));
        fill_empty_parts(ranks, partition);
        part_of = partition.own_parts();
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::PtScotch, "ptscotch", "1.0.0",
                "parallel recursive bipartitioning by edge cut, by the PT-Scotch library over ranks",
                gnnbench::declared)
