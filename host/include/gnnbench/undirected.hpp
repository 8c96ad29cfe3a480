#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/transpose.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// The columns of A: row v of Aᵀ lists the rows of A that hold v, ascending. Takes memory unless Aᵀ is at
/// hand.
class Transposed {
public:
    explicit Transposed(const GraphView& graph);
    Transposed(const Transposed&) = delete;  // its spans are of its own arrays
    std::span<const std::int32_t> row(std::int64_t v) const { return row_of(rows_.indptr, rows_.indices, v); }

    static std::span<const std::int32_t> row_of(std::span<const std::int64_t> indptr,
                                                std::span<const std::int32_t> indices, std::int64_t v) {
        const auto i = usize(v);
        return indices.subspan(usize(indptr[i]), usize(indptr[i + 1] - indptr[i]));
    }

private:
    RowArrays own_;  ///< without weights; empty where the graph has them
    CompressedRows rows_;
};

/// Calls visit(u) for every u ≠ v that is in one of two ascending lists, once, ascending.
template <class Visit>
void visit_union(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int64_t v, Visit&& visit) {
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        const std::int32_t u = j == b.size() || (i < a.size() && a[i] <= b[j]) ? a[i] : b[j];
        if (i < a.size() && a[i] == u) ++i;
        if (j < b.size() && b[j] == u) ++j;
        if (u != v) visit(u);
    }
}

/// The undirected graph under a directed one: {u, v} for every entry (u, v) of A with u ≠ v, once. It is not stored:
/// each row is merged from A's and Aᵀ's.
class Undirected {
public:
    explicit Undirected(const GraphView& graph) : graph_(graph), other_(graph) {}

    std::int64_t vertices() const { return graph_.vertices(); }
    /// Calls visit(u) for every neighbour of v, ascending.
    template <class Visit>
    void neighbours(std::int64_t v, Visit&& visit) const {
        visit_union(Transposed::row_of(graph_.indptr, graph_.indices, v), other_.row(v), v, visit);
    }
    std::int64_t degree(std::int64_t v) const {
        std::int64_t count = 0;
        neighbours(v, [&](std::int32_t) { ++count; });
        return count;
    }

private:
    GraphView graph_;
    Transposed other_;
};

/// |cols(Â(v, :))| for every vertex: the stored entries of its row, and one for a diagonal that is not among them. What
/// a vertex weighs in Demirci et al., section 4.3.
std::vector<std::int64_t> row_nonzeros(const GraphView& graph);

}  // namespace gnnbench
