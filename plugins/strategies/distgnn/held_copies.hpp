#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/partition.hpp>
#include <gnnbench/position_set.hpp>
#include <gnnbench/training/adjacency.hpp>

#include "algorithm.hpp"

namespace gnnbench::dist {

/// Rows [first, first + count).
struct Run {
    std::int64_t first = 0, count = 0;
};

/// The rows that a rank holds under a vertex cut: those of its roots, by position; then those of its copies. Of the copies
/// whose roots another rank has, in ascending order, every bins-th is in the same bin, the first in bin 0. Bins follow one
/// another, and inside each the root's ranks. What is lent to others is listed in the same order.
class HeldCopies {
public:
    /// Reads the whole graph.
    HeldCopies(const GraphView& graph, const IndexMap& index, Part part, const Algorithm& algorithm);

    std::int64_t roots() const { return roots_; }
    std::int64_t copies() const { return held_.back(); }
    std::int64_t rows() const { return roots() + copies(); }
    std::int64_t lent() const { return lent_.back(); }
    int bins() const { return bins_; }
    Part parts() const { return parts_; }
    /// Of a bin, the copies whose roots part j has, and the roots that part j has copies of: rows of copies, counted from
    /// the first, and places in lent_rows().
    Run held(int bin, Part j) const { return run(held_, bin, j, 1); }
    Run lent(int bin, Part j) const { return run(lent_, bin, j, 1); }
    Run held(int bin) const { return run(held_, bin, 0, parts_); }
    Run lent(int bin) const { return run(lent_, bin, 0, parts_); }
    /// The most of a bin.
    std::int64_t most_held() const;
    std::int64_t most_lent() const;

    const std::vector<GlobalId>& copied_vertices() const { return copied_; }
    const std::vector<std::int32_t>& lent_rows() const { return lent_rows_; }

    /// Of Â, what is added up before copies are exchanged: entries of this rank, and, unless each copy has its own, those
    /// diagonal entries of its roots that Â has and the graph does not.
    std::int64_t nonzeros(const Adjacency& a, const GraphView& graph) const;
    Csr matrix(const Adjacency& a, const GraphView& graph) const;  ///< [rows × rows]
    /// What is added to each copy afterwards: such diagonal entries of all rows, or none.
    std::int64_t loop_count(const Adjacency& a, const GraphView& graph) const;
    Csr loops(const Adjacency& a, const GraphView& graph) const;  ///< [rows × rows]
    /// [roots × lent]: 1 where a row's lent copy has entries of the graph; columns as in lent_rows().
    std::int64_t merged(const GraphView& graph) const;
    Csr merging(const Adjacency& a, const GraphView& graph) const;

private:
    Run run(const std::vector<std::int64_t>& starts, int bin, Part j, Part parts) const;
    std::int64_t row_of(std::int64_t position) const;
    /// Calls visit(row, k) for each lent copy k that has entries of the graph, in ascending order of k.
    template <class Visit>
    void visit_lent_with_entries(const GraphView& graph, Visit&& visit) const;
    enum class Share : std::uint8_t { exchanged, of_each_copy };
    /// Calls visit(row, column, value) for each entry, row by row.
    template <class Visit>
    void visit_entries(const Adjacency& a, const GraphView& graph, Share share, Visit&& visit) const;
    std::int64_t count(const Adjacency& a, const GraphView& graph, Share share) const;
    Csr entries(const Adjacency& a, const GraphView& graph, Share share) const;

    const IndexMap& index_;
    Part part_, parts_;
    int bins_;
    bool loops_at_copies_;
    std::int64_t roots_;
    std::vector<std::int64_t> held_, lent_;  ///< rows before, by bin and part; length bins · parts + 1
    std::vector<GlobalId> copied_;
    std::vector<std::int32_t> lent_rows_;
    PositionSet positions_;            ///< of copies
    std::vector<std::int32_t> place_;  ///< of a copy, by its rank among the positions
};

}  // namespace gnnbench::dist
