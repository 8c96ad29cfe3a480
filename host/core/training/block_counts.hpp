#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <gnnbench/partition.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/expected_graph.hpp>

namespace gnnbench {

/// The parts of an order, each cut into even runs: run k of part p has number p · runs + k.
struct CutOrder {
    const IndexMap& index;
    int runs = 1;
};

/// Nonzeros of every block of Â.
class CountedBlocks {
public:
    /// By a walk over the graph; of one that is only expected, its expectations as whole numbers.
    CountedBlocks(const Adjacency& a, const CutOrder& rows, const CutOrder& columns);
    std::int64_t at(std::int64_t row, std::int64_t column) const {
        return nonzeros_[usize(row * columns_ + column)];
    }

private:
    void count(const Adjacency& a, const CutOrder& rows, const CutOrder& columns);
    void expect(const ExpectedGraph& graph, bool loops, const CutOrder& rows, const CutOrder& columns);

    std::int64_t columns_;
    std::vector<std::int64_t> nonzeros_;
    IndexMap row_order_, column_order_;  ///< while they live, no other order has their arrays' addresses
};

/// By one walk over Â; where ranks share this process, by one walk for all of them.
std::shared_ptr<const CountedBlocks> counted_blocks(const Adjacency& a, const CutOrder& rows,
                                                    const CutOrder& columns);

/// Whether Â of an expected graph has a diagonal beside the graph's edges, of which none is a loop.
bool has_loops(const Adjacency& a, const ExpectedGraph& graph);

/// Tells orders apart that live at the same time.
std::string name_of(const IndexMap& index);

}  // namespace gnnbench
