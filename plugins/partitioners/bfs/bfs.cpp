// Consecutive blocks of a breadth-first order: cheap, and neighbours are often in one part.
#include <algorithm>
#include <numeric>

#include <gnnbench/ordering.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/undirected.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

constexpr ParamDecl declared[] = {
    {"weights", ParamType::choice, "nonzeros", 0, 0, "none|nonzeros",
     "what is balanced: vertices, or the entries of their rows"},
};

class BreadthFirst final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize&, const PartitionNeed& need, const Params&) const override {
        return why_not_alike(need);
    }

    Partition partition(const PartitionTask& task) const override {
        const GraphView& graph = task.dataset.graph;
        std::vector<std::int64_t> weight(usize(graph.vertices()), 1);
        if (task.params.choice("weights") == "nonzeros") weight = row_nonzeros(graph);
        const auto total = static_cast<double>(std::reduce(weight.begin(), weight.end()));
        Partition result{
            .parts = task.need.parts, .part_of = std::vector<Part>(weight.size()), .column_part_of = {}};
        // A vertex belongs to the part in whose share [p, p + 1) · total / parts its middle lies.
        double before = 0;
        for (const std::int32_t v : breadth_first_order(Undirected(graph))) {
            const auto w = static_cast<double>(weight[usize(v)]);
            const double share = (before + w / 2) * task.need.parts / total;
            result.part_of[usize(v)] = std::min(static_cast<Part>(share), task.need.parts - 1);
            before += w;
        }
        return result;
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::BreadthFirst, "bfs", "1.0.0",
                "consecutive blocks of a breadth-first order of the vertices", gnnbench::declared)
