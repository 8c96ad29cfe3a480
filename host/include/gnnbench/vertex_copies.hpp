#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench {

/// The copies of vertices that a part has, or that others have of its own, under a vertex cut: a part has a copy of every
/// vertex that is row or column of one of its entries, and of the vertices whose roots it is.
class VertexCopies {
public:
    /// Reads the whole graph once. Holds a bit for each vertex, and for each other part one for each root of `part`.
    VertexCopies(const GraphView& graph, const IndexMap& index, Part part);

    /// By part j: the roots of part j that `part` has copies of, and the roots of `part` that part j has copies of; local
    /// ids, ascending. None of its own.
    const std::vector<std::vector<std::int32_t>>& held() const { return held_; }
    const std::vector<std::vector<std::int32_t>>& lent() const { return lent_; }
    std::int64_t held_rows() const { return rows(held_); }
    /// The vertices of `held`, part by part.
    std::vector<GlobalId> held_vertices() const;
    /// Entries of `part`, without diagonal entries that the graph does not store.
    std::int64_t entries() const { return entries_; }
    /// In copies, and in entries with the roots' diagonals, stored or not.
    PartQuality quality() const;

private:
    static std::int64_t rows(const std::vector<std::vector<std::int32_t>>& lists);

    const IndexMap& index_;
    Part part_;
    std::vector<std::vector<std::int32_t>> held_, lent_;
    std::int64_t entries_ = 0, missing_diagonals_ = 0;
};

/// Every part's quality(), at the cost of one part's. Calls visit(part, vertex) for each copy beside the roots, part by part.
/// Holds two numbers for each entry.
std::vector<PartQuality> measure_copies(const GraphView& graph, const Partition& cut,
                                        const std::function<void(Part, std::int32_t)>& visit = {});

}  // namespace gnnbench
