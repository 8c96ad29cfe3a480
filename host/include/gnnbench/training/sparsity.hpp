#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/partition.hpp>
#include <gnnbench/shared_setup.hpp>
#include <gnnbench/training/adjacency.hpp>

/// Nonzero counts of the blocks of Â: counted in the graph, or supplied for a graph whose entries are not available. Back
/// ends without values need nothing else.

namespace gnnbench {

/// The parts of an order, each cut into even runs: run k of part p has number p · runs + k.
struct CutOrder {
    const IndexMap& index;
    int runs = 1;
};

/// For the rows of one part in Â or Âᵀ, by the part of the columns: distinct columns and distinct rows with a nonzero.
struct LineCounts {
    std::vector<std::int64_t> columns, rows;
};

/// Counts nonzeros of Â, or knows them.
class SparsityCounts {
public:
    virtual ~SparsityCounts();
    /// Whether the graph's entries are available, and not only their counts.
    virtual bool has_entries() const = 0;
    /// Nonzeros of every block of Â, row-major by (run of rows, run of columns).
    virtual std::vector<std::int64_t> of_blocks(const Adjacency& a, const CutOrder& rows,
                                                const CutOrder& columns) const = 0;
    /// Counts of the blocks (part, ·) of Â (forward) or Âᵀ (backward).
    virtual LineCounts of_line(const Adjacency& a, const IndexMap& index, Part part, Direction d) const = 0;
};

/// Set where the graph's entries are not available, for ranks that share a process.
struct KnownSparsity {
    std::shared_ptr<const SparsityCounts> counts;
};

/// The counts in KnownSparsity if they are set; otherwise counts by a walk over Â.
const SparsityCounts& sparsity_of(const Adjacency& a);

/// Throws Unsupported if the graph's entries are not available; `what` names who needs them: "sampling boundaries".
void require_entries(SharedSetup* shared, const std::string& what);

}  // namespace gnnbench
