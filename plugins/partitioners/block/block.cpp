// Consecutive blocks of the dataset's own vertex order, as in systems that do not partition.
#include <algorithm>

#include <gnnbench/partition.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Part p gets n / parts vertices, the first n mod parts parts one more. Parts are empty where n < parts.
std::vector<Part> blocks(std::int64_t n, Part parts) {
    std::vector<Part> part_of(usize(n));
    auto next = part_of.begin();
    for (Part p = 0; p < parts; ++p) next = std::fill_n(next, n / parts + (p < n % parts ? 1 : 0), p);
    return part_of;
}

class Block final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize&, const PartitionNeed&, const Params&) const override {
        return {};
    }

    Partition partition(const PartitionTask& task) const override {
        const std::int64_t n = task.dataset.graph.vertices();
        Partition result{.parts = task.need.parts, .part_of = blocks(n, task.need.parts), .column_part_of = {}};
        if (task.need.column_parts > 0) result.column_part_of = blocks(n, task.need.column_parts);
        return result;
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN_WITHOUT_PARAMS(partitioner, gnnbench::Block, "block", "1.0.0",
                               "consecutive blocks of the dataset's order, sizes within one of each other")
