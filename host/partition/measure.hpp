#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench {

/// What one part holds, and what it exchanges in one product Â·H by point-to-point messages, rows of H being sent
/// once to each part that needs them.
struct PartCost {
    std::int64_t vertices = 0;
    std::int64_t nonzeros =
        0;  ///< entries of its rows with their diagonal, stored or not: what partitioners balance
    std::int64_t sent_rows = 0, received_rows = 0;
    std::int64_t sent_messages = 0, received_messages = 0;
};

/// A number of each part: their mean, the largest, and that ÷ the mean (1 where the mean is 0).
struct Spread {
    double mean = 0;
    std::int64_t maximum = 0;
    double imbalance() const { return mean > 0 ? static_cast<double>(maximum) / mean : 1; }
};

/// What a partition costs.
struct PartitionCost {
    std::int64_t edge_cut = 0;                ///< entries (i, j) with part(i) ≠ part(j)
    std::int64_t connectivity_minus_one = 0;  ///< Σ over columns of other parts that need it: the rows sent
    /// The same of the transpose, which a backward product multiplies by.
    std::int64_t backward_connectivity_minus_one = 0;
    std::int64_t cut_nets = 0;  ///< columns that another part needs
    /// Of a vertex cut: copies of a vertex, the root included, on average; cut_nets are the vertices with several, and
    /// connectivity_minus_one the copies beside roots, whose rows go to the roots and back. Else 0.
    double replication = 0;
    std::int64_t empty_parts = 0;
    std::vector<PartCost> parts;
    /// Who talks to whom, where asked for: rows sent from p to q at [p · parts + q].
    std::vector<std::int64_t> rows_between;

    Spread spread(std::int64_t PartCost::* number) const;
};

/// More parts than this have no matrix of who talks to whom.
inline constexpr Part most_drawn_parts = 2048;

/// Cost of the rows' partition. `between`: also fills rows_between; needs at most most_drawn_parts parts.
PartitionCost measure_cost(const GraphView& graph, const Partition& partition, bool between = false);

}  // namespace gnnbench
