#include <gnnbench/ordering.hpp>

#include <algorithm>
#include <numeric>

#include <gnnbench/random.hpp>

namespace gnnbench {
namespace {

std::vector<std::int32_t> identity(std::int64_t vertices) {
    std::vector<std::int32_t> order(usize(vertices));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

/// Breadth-first walks over one component after another.
class Walk {
public:
    explicit Walk(const Undirected& graph)
        : graph_(graph), degree_(usize(graph.vertices())), level_(usize(graph.vertices()), unseen) {
        for (std::size_t v = 0; v < degree_.size(); ++v) degree_[v] = graph.degree(static_cast<std::int64_t>(v));
        order_.reserve(degree_.size());
    }

    /// All vertices; neighbours by id, or by ascending degree.
    std::vector<std::int32_t> run(bool by_degree) {
        for (std::size_t v = 0; v < level_.size(); ++v) {
            if (level_[v] != unseen) continue;
            visit(far_from(static_cast<std::int32_t>(v)), by_degree);
        }
        return std::move(order_);
    }

private:
    static constexpr std::int32_t unseen = -1;

    /// Appends the component of `start` to the order; the level of the last vertex.
    std::int32_t visit(std::int32_t start, bool by_degree) {
        std::size_t head = order_.size();
        level_[usize(start)] = 0;
        order_.push_back(start);
        for (; head < order_.size(); ++head) {
            const std::int32_t v = order_[head];
            const auto first = std::ssize(order_);
            graph_.neighbours(v, [&](std::int32_t u) {
                if (level_[usize(u)] != unseen) return;
                level_[usize(u)] = level_[usize(v)] + 1;
                order_.push_back(u);
            });
            if (by_degree)
                std::stable_sort(order_.begin() + first, order_.end(), [&](std::int32_t a, std::int32_t b) {
                    return degree_[usize(a)] < degree_[usize(b)];
                });
        }
        return level_[usize(order_.back())];
    }

    void undo(std::size_t from) {
        for (std::size_t i = from; i < order_.size(); ++i) level_[usize(order_[i])] = unseen;
        order_.resize(from);
    }

    /// A vertex of the last level with the fewest neighbours, again from there, as long as it is farther away.
    std::int32_t far_from(std::int32_t start) {
        const std::size_t begin = order_.size();
        for (std::int32_t depth = -1;;) {
            const std::int32_t reached = visit(start, false);
            if (reached <= depth) {
                undo(begin);
                return start;
            }
            depth = reached;
            std::int32_t best = order_.back();
            for (auto v = order_.rbegin(); v != order_.rend() && level_[usize(*v)] == reached; ++v)
                if (degree_[usize(*v)] <= degree_[usize(best)]) best = *v;
            undo(begin);
            if (reached == 0) return start;
            start = best;
        }
    }

    const Undirected& graph_;
    std::vector<std::int64_t> degree_;
    std::vector<std::int32_t> level_, order_;
};

/// A stream of its own, so that it differs from the `random` partitioner's at the same seed.
constexpr std::uint32_t inside_parts = 18;

}  // namespace

std::vector<std::int32_t> random_order(std::int64_t vertices, std::uint64_t seed) {
    std::vector<std::int32_t> order = identity(vertices);
    RandomStream random(seed, Draw::partition, inside_parts);
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
    return order;
}

std::vector<std::int32_t> degree_order(const GraphView& graph) {
    std::vector<std::int32_t> order = identity(graph.vertices());
    const auto length = [&](std::int32_t v) { return graph.indptr[usize(v) + 1] - graph.indptr[usize(v)]; };
    std::ranges::stable_sort(order, std::greater(), length);
    return order;
}

std::vector<std::int32_t> breadth_first_order(const Undirected& graph) { return Walk(graph).run(false); }

std::vector<std::int32_t> reverse_cuthill_mckee_order(const Undirected& graph) {
    std::vector<std::int32_t> order = Walk(graph).run(true);
    std::ranges::reverse(order);
    return order;
}

}  // namespace gnnbench
