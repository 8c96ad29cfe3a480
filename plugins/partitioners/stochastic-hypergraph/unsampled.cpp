#include "unsampled.hpp"

#include <algorithm>
#include <functional>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "random.hpp"

namespace gnnbench::stochastic {
namespace {

constexpr Part nowhere = -1;

/// Parts while they are filled.
class Filling {
public:
    Filling(const Partition& partition, const std::vector<hypergraph::Weight>& weight, hypergraph::Weight limit)
        : weight_(usize(partition.parts)), limit_(limit) {
        for (std::size_t v = 0; v < weight.size(); ++v)
            if (partition.part_of[v] != nowhere) weight_[usize(partition.part_of[v])] += weight[v];
    }

    bool has_room(Part p, hypergraph::Weight w) const { return weight_[usize(p)] + w <= limit_; }
    Part lightest() const { return static_cast<Part>(std::ranges::min_element(weight_) - weight_.begin()); }
    bool is_lighter(Part a, Part b) const { return weight_[usize(a)] < weight_[usize(b)]; }
    void add(Part p, hypergraph::Weight w) { weight_[usize(p)] += w; }

private:
    std::vector<hypergraph::Weight> weight_;
    hypergraph::Weight limit_;
};

/// The first with room from one drawn at random; nowhere if none has.
Part drawn(const Filling& parts, Part count, hypergraph::Weight w, std::uint64_t random) {
    const auto first = static_cast<Part>(random % usize(count));
    for (Part step = 0; step < count; ++step)
        if (const Part p = (first + step) % count; parts.has_room(p, w)) return p;
    return nowhere;
}

/// The part with room that has most of the row's columns, the lightest of equals; nowhere if none has any.
Part with_most_columns(const GraphView& graph, std::int64_t row, const Partition& partition, const Filling& parts,
                       hypergraph::Weight w) {
    std::vector<std::int64_t> columns(usize(partition.parts));
    for (std::int64_t e = graph.indptr[usize(row)]; e < graph.indptr[usize(row) + 1]; ++e)
        if (const Part p = partition.part_of[usize(graph.indices[usize(e)])]; p != nowhere) ++columns[usize(p)];
    Part best = nowhere;
    for (Part p = 0; p < partition.parts; ++p) {
        if (columns[usize(p)] == 0 || !parts.has_room(p, w)) continue;
        if (best == nowhere || columns[usize(p)] > columns[usize(best)] ||
            (columns[usize(p)] == columns[usize(best)] && parts.is_lighter(p, best)))
            best = p;
    }
    return best;
}

}  // namespace

Unsampled unsampled_of(std::string_view word) {
    if (word == "random") return Unsampled::random;
    return word == "neighbours" ? Unsampled::neighbours : Unsampled::balance;
}

WithoutNet without_net(const hypergraph::Hypergraph& nets) {
    std::vector<bool> has_net(nets.vertex_weight.size());
    for (const hypergraph::Id v : nets.pins) has_net[v] = true;
    WithoutNet out{.vertices = {}, .weight = nets.vertex_weight};
    for (std::size_t v = 0; v < has_net.size(); ++v)
        if (!has_net[v]) out.vertices.push_back(static_cast<std::int64_t>(v));
    return out;
}

void place(const GraphView& graph, const WithoutNet& unsampled, Unsampled how, hypergraph::Weight limit,
           std::uint64_t seed, Partition& partition) {
    if (how == Unsampled::balance) return;
    std::vector<std::int64_t> order = unsampled.vertices;
    std::ranges::stable_sort(order, std::greater(), [&](std::int64_t v) { return unsampled.weight[usize(v)]; });
    for (const std::int64_t v : order) partition.part_of[usize(v)] = nowhere;
    Filling parts(partition, unsampled.weight, limit);
    for (const std::int64_t v : order) {
        const hypergraph::Weight w = unsampled.weight[usize(v)];
        Part p = how == Unsampled::random
                     ? drawn(parts, partition.parts, w, hypergraph::mixed(seed, static_cast<std::uint64_t>(v)))
                     : with_most_columns(graph, v, partition, parts, w);
        if (p == nowhere) p = parts.lightest();
        partition.part_of[usize(v)] = p;
        parts.add(p, w);
    }
}

}  // namespace gnnbench::stochastic
