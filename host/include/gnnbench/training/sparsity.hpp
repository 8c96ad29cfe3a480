#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/partition.hpp>
#include <gnnbench/shared_setup.hpp>
#include <gnnbench/training/adjacency.hpp>

/// How many entries the blocks of Â have: counted in a graph, or known of one that is not there. A back end without values
/// asks for nothing else.

namespace gnnbench {

/// The parts of an order, each cut into even runs: run k of part p has number p · runs + k.
struct CutOrder {
    const IndexMap& index;
    int runs = 1;
};

/// By part, of the rows of one part in Â or Âᵀ: the columns with a nonzero, and the rows with one.
struct LineCounts {
    std::vector<std::int64_t> columns, rows;
};

class SparsityCounts {
public:
    virtual ~SparsityCounts();
    /// Whether the graph's entries are there, and not only their numbers.
    virtual bool has_entries() const = 0;
    /// Nonzeros of every block of Â, row-major by (run of rows, run of columns).
    virtual std::vector<std::int64_t> of_blocks(const Adjacency& a, const CutOrder& rows,
                                                const CutOrder& columns) const = 0;
    virtual LineCounts of_line(const Adjacency& a, const IndexMap& index, Part part, Direction d) const = 0;
};

/// Counts known without a graph, for ranks that share a process. Null if the problem has its graph.
struct KnownSparsity {
    std::shared_ptr<const SparsityCounts> counts;
};

/// The counts that are known, or else such as walk over Â.
const SparsityCounts& sparsity_of(const Adjacency& a);

/// Throws Unsupported where only the numbers of the graph's entries are known; `what` needs them: "sampling boundaries".
void require_entries(SharedSetup* shared, const std::string& what);

}  // namespace gnnbench
