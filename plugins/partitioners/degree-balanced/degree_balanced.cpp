// Longest processing time first: R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 17
// (1969). Balances the nonzeros of the parts and keeps no locality.
#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/undirected.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

constexpr ParamDecl declared[] = {
    {"train", ParamType::boolean, "false", 0, 0, nullptr, "balance the number of train vertices as well"},
};

/// What a part has so far. Ordered by what is balanced first, then by part, so that ties are decided.
struct Load {
    std::int64_t vertices = 0, nonzeros = 0;
    Part part = 0;
};

class LightestFirst {
public:
    explicit LightestFirst(bool by_vertices) : by_vertices_(by_vertices) {}
    bool operator()(const Load& a, const Load& b) const {  // std::priority_queue puts the greatest first
        const auto key = [this](const Load& l) {
            return std::tuple(by_vertices_ ? l.vertices : 0, l.nonzeros, l.part);
        };
        return key(b) < key(a);
    }

private:
    bool by_vertices_;
};

/// Deals `vertices`, in this order, to the lightest part each.
void deal(std::span<const std::int32_t> vertices, std::span<const std::int64_t> weight, std::vector<Load>& loads,
          LightestFirst lighter, std::vector<Part>& part_of) {
    std::priority_queue<Load, std::vector<Load>, LightestFirst> queue(lighter, std::move(loads));
    for (const std::int32_t v : vertices) {
        Load lightest = queue.top();
        queue.pop();
        part_of[usize(v)] = lightest.part;
        ++lightest.vertices;
        lightest.nonzeros += weight[usize(v)];
        queue.push(lightest);
    }
    loads.clear();
    for (; !queue.empty(); queue.pop()) loads.push_back(queue.top());
}

class DegreeBalanced final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize&, const PartitionNeed& need, const Params&) const override {
        return why_not_alike(need);
    }

    Partition partition(const PartitionTask& task) const override {
        const bool train = task.params.boolean("train");
        const DatasetView& data = task.dataset;
        if (train && data.split.empty())
            throw Unsupported("train: true needs a dataset that says which vertices are trained on");
        const std::vector<std::int64_t> weight = row_nonzeros(data.graph);
        std::vector<std::int32_t> order(weight.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, std::greater(), [&](std::int32_t v) { return weight[usize(v)]; });
        const auto others = train
                                ? std::ranges::stable_partition(
                                      order, [&](std::int32_t v) { return data.split[usize(v)] == Split::train; })
                                      .begin()
                                : order.begin();

        Partition result{
            .parts = task.need.parts, .part_of = std::vector<Part>(weight.size()), .column_part_of = {}};
        std::vector<Load> loads(usize(task.need.parts));
        for (std::size_t p = 0; p < loads.size(); ++p) loads[p].part = static_cast<Part>(p);
        deal({order.begin(), others}, weight, loads, LightestFirst(true), result.part_of);
        deal({others, order.end()}, weight, loads, LightestFirst(false), result.part_of);
        return result;
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::DegreeBalanced, "degree-balanced", "1.0.0",
                "longest processing time first: balances the nonzeros of parts (Graham 1969)", gnnbench::declared)
