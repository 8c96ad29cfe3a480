// Parts at random: balances everything in expectation and keeps no locality.
#include <algorithm>
#include <utility>

#include <gnnbench/partition.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

constexpr ParamDecl declared[] = {
    {"seed", ParamType::integer, "-1", -1, 0x1p53, nullptr, "seed of what is drawn; -1: the cell's seed"},
    {"sizes", ParamType::choice, "equal", 0, 0, "equal|drawn",
     "equal: blocks of a random permutation; drawn: each vertex draws its part, so that sizes vary"},
};

/// Rows and columns are permuted independently.
enum class Order : std::uint32_t { rows = 0, columns = 1 };

/// Block sizes as equal as possible, the first ones larger; then the parts are dealt to the vertices in random
/// order (Fisher–Yates). The same as cutting a random permutation into blocks.
std::vector<Part> shuffled_blocks(std::int64_t n, Part parts, std::uint64_t seed, Order order) {
    std::vector<Part> part_of(usize(n));
    auto next = part_of.begin();
    for (Part p = 0; p < parts; ++p) next = std::fill_n(next, n / parts + (p < n % parts ? 1 : 0), p);

    RandomStream random(seed, Draw::partition, static_cast<std::uint32_t>(order));
    for (std::size_t left = part_of.size(); left > 1; --left)
        std::swap(part_of[left - 1], part_of[random.below(left)]);
    return part_of;
}

/// Each vertex in a part of its own draw (Zhang, algorithm 2).
std::vector<Part> drawn_parts(std::int64_t n, Part parts, std::uint64_t seed, Order order) {
    std::vector<Part> part_of(usize(n));
    RandomStream random(seed, Draw::partition, static_cast<std::uint32_t>(order));
    for (Part& p : part_of) p = static_cast<Part>(random.below(static_cast<std::uint64_t>(parts)));
    return part_of;
}

class Random final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize&, const PartitionNeed&, const Params&) const override {
        return {};
    }

    Partition partition(const PartitionTask& task) const override {
        const std::int64_t own = task.params.integer("seed");
        const std::uint64_t seed = own < 0 ? task.seed : static_cast<std::uint64_t>(own);
        const std::int64_t n = task.dataset.graph.vertices();
        const PartitionNeed& need = task.need;
        const auto divide = task.params.choice("sizes") == "drawn" ? drawn_parts : shuffled_blocks;
        Partition result{
            .parts = need.parts, .part_of = divide(n, need.parts, seed, Order::rows), .column_part_of = {}};
        if (need.column_parts > 0) result.column_part_of = divide(n, need.column_parts, seed, Order::columns);
        return result;
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::Random, "random", "1.1.0",
                "vertices in parts at random, of equal sizes or not", gnnbench::declared)
