// Multilevel k-way partitioning: Karypis & Kumar, "Multilevel k-way Partitioning Scheme for Irregular Graphs",
// J. Parallel Distrib. Comput. 48 (1998), as implemented by the METIS 5 library.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/undirected.hpp>
#include <gnnbench/usize.hpp>

#include "symmetric.hpp"

namespace gnnbench {
namespace {

constexpr ParamDecl declared[] = {
    {"objective", ParamType::choice, "cut", 0, 0, "cut|volume",
     "what is minimised: edges between parts, or vertices that other parts need"},
    {"imbalance", ParamType::real, "0.03", 0.001, 1, nullptr, "how much heavier than the mean a part may be"},
    {"weights", ParamType::choice, "none", 0, 0, "none|nonzeros",
     "what is balanced: vertices, or the entries of their rows"},
    {"seed", ParamType::integer, "-1", -1, 2147483647, nullptr, "METIS' random seed; -1: the cell's seed"},
};

std::string_view reason(int status) {
    switch (status) {
        case METIS_ERROR_INPUT:
            return "it rejects its input";
        case METIS_ERROR_MEMORY:
            return "it found too little memory";
        default:
            return "it failed without a reason";
    }
}

void check(int status, const PartitionNeed& need, const GraphView& graph, bool by_volume) {
    if (status == METIS_OK) return;
    const std::string what = fmt::format("METIS failed (code {}: {}) on {} vertices, {} entries, {} parts.",
                                         status, reason(status), graph.vertices(), graph.edges(), need.parts);
    if (status == METIS_ERROR_MEMORY) throw OutOfMemory(what);
    throw Error(what + (by_volume
                            ? " Its volume objective is known to fail on graphs with hubs: use objective: cut."
                            : " Use another seed or imbalance, or partitioner random."));
}

class Metis final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize& graph, const PartitionNeed& need, const Params&) const override {
        if (std::string why = why_not_alike_and_filled(graph, need); !why.empty()) return why;
        if (graph.edges > metis_limit - graph.vertices)
            return fmt::format("counts in 32 bits; {} entries and {} vertices are too many", graph.edges,
                               graph.vertices);
        return {};
    }

    Partition partition(const PartitionTask& task) const override {
        const GraphView& graph = task.dataset.graph;
        const PartitionNeed& need = task.need;
        const Params& params = task.params;
        Partition result{
            .parts = need.parts, .part_of = std::vector<Part>(usize(graph.vertices())), .column_part_of = {}};
        if (need.parts == 1 || graph.vertices() == 0) return result;

        const bool by_volume = params.choice("objective") == "volume";
        const std::int64_t own_seed = params.integer("seed");
        idx_t options[METIS_NOPTIONS];
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_OBJTYPE] = by_volume ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;
        options[METIS_OPTION_NUMBERING] = 0;
        options[METIS_OPTION_UFACTOR] = static_cast<idx_t>(std::lround(params.real("imbalance") * 1000));
        options[METIS_OPTION_SEED] =
            static_cast<idx_t>((own_seed < 0 ? task.seed : static_cast<std::uint64_t>(own_seed)) & 0x7fffffff);

        MetisGraph g = symmetrised(graph);
        g.neighbours.reserve(1);  // METIS needs an address even if there are no edges
        std::vector<idx_t> weights;
        if (params.choice("weights") == "nonzeros")
            for (const std::int64_t w : row_nonzeros(graph)) weights.push_back(static_cast<idx_t>(w));
        idx_t vertices = static_cast<idx_t>(graph.vertices()), constraints = 1, parts = need.parts, objective = 0;

        // With few vertices a part k-way collapses parts (9 vertices in 9 parts: three parts of three); recursive
        // bisection, which only minimises the cut, does not.
        const bool few = graph.vertices() < std::int64_t{few_vertices_a_part} * need.parts;
        if (few) options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_CUT;
        const auto partition_graph = few ? METIS_PartGraphRecursive : METIS_PartGraphKway;
        check(partition_graph(&vertices, &constraints, g.offsets.data(), g.neighbours.data(),
                              weights.empty() ? nullptr : weights.data(), nullptr, nullptr, &parts, nullptr,
                              nullptr, options, &objective, result.part_of.data()),
              need, graph, by_volume);
        fill_empty_parts(graph, result);
        return result;
    }

private:
    static constexpr int few_vertices_a_part = 32;
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::Metis, "metis", "1.0.0",
                "multilevel k-way partitioning (Karypis & Kumar 1998) by the METIS library", gnnbench::declared)
