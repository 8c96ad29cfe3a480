#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/partition.hpp>
#include <gnnbench/shared_setup.hpp>
#include <gnnbench/simulation/uneven_parts.hpp>
#include <gnnbench/sized_order.hpp>

/// Graphs of which nothing but statistics is known: what blocks and halos their parts would have. A back end without
/// values asks for sizes alone, and either a graph or one of these says them (docs/decisions/expected-graphs.md).

namespace gnnbench {

/// Mean and standard deviation of a random number.
struct Expectation {
    double mean = 0, sd = 0;
};

/// How a partitioner that knows the graph places vertices. A share `inside` of all edges stays in its part; the others
/// go to any vertex of the other parts alike.
struct Locality {
    double inside = 0;
    /// Rows that parts need of others, together, for each vertex of the graph: (connectivity − 1) ÷ n. Without: as many as
    /// edges need that each by itself leave their part, which is more than partitioners make, since they cut where some
    /// vertices have many of the cut edges.
    std::optional<double> halo = {};
    /// The parts, where they are not all alike. Then they hold what `inside` and `halo` say.
    std::shared_ptr<const UnevenParts> uneven = {};
};

/// A graph without self-loops, by its degrees: undirected, or with one distribution for degrees in and out.
struct GraphOutline {
    struct Degree {
        std::int64_t degree = 0;
        double share = 0;  ///< of all vertices
    };
    std::int64_t vertices = 0;
    std::vector<Degree> degrees;  ///< shares add up to 1
    /// How parts were chosen; without: at random, of given sizes.
    std::optional<Locality> locality = {};
};

/// Positions [first, end) of an order of which only sizes are known.
struct ExpectedRun {
    const IndexMap& order;
    std::int64_t first = 0, end = 0;
    std::int64_t size() const { return end - first; }
};

/// Memory and time for any number of vertices depend on the number of different degrees and of different part sizes alone.
class ExpectedGraph {
public:
    explicit ExpectedGraph(GraphOutline outline);

    std::int64_t vertices() const { return outline_.vertices; }
    /// Both directions of every edge, self-loops not included.
    double entries() const { return mean_degree_ * n_; }
    const GraphOutline& outline() const { return outline_; }

    /// Entries in the block of these rows and columns. `loops`: the matrix has a diagonal beside the graph's edges.
    Expectation nonzeros(const ExpectedRun& rows, const ExpectedRun& columns, bool loops) const;
    /// Distinct columns of part j with an entry in a row of part i. The matrix is symmetric, so these are also the rows of
    /// part j with an entry in a column of part i.
    Expectation needed(const IndexMap& parts, Part i, Part j, bool loops) const;

    /// The expectation as a whole number: the same for (i, j) whenever it is asked for, and without a bias over many
    /// blocks, of which each may expect less than one.
    static std::int64_t rounded(double expected, std::int64_t i, std::int64_t j);

private:
    Expectation aligned_nonzeros(std::int64_t rows, std::int64_t columns, bool same) const;
    Expectation unaligned_nonzeros(std::int64_t rows, std::int64_t columns) const;
    double local_nonzeros(const ExpectedRun& rows, const ExpectedRun& columns,
                          const std::vector<std::int64_t>& parts) const;
    /// Rows of part i with an entry in its own columns.
    Expectation inner_rows(Part i, std::int64_t rows) const;
    Expectation needed_of(std::int64_t n_i, std::int64_t n_j) const;

    GraphOutline outline_;
    double n_ = 0, mean_degree_ = 0, mean_square_ = 0;                             ///< of the degrees
    mutable std::map<std::pair<std::int64_t, std::int64_t>, Expectation> needed_;  ///< by the parts' sizes
};

/// Ranks of one process get their counts from it, as whole numbers. Before any rank asks.
void share_expected_graph(SharedSetup& shared, std::shared_ptr<const ExpectedGraph> graph);

}  // namespace gnnbench
