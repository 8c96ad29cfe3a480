#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <gnnbench/partition.hpp>
#include <gnnbench/training/sparsity.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// Nonzeros of every block of Â.
class CountedBlocks {
public:
    CountedBlocks(const Adjacency& a, const CutOrder& rows, const CutOrder& columns);
    std::int64_t at(std::int64_t row, std::int64_t column) const {
        return nonzeros_[usize(row * columns_ + column)];
    }

private:
    std::int64_t columns_;
    std::vector<std::int64_t> nonzeros_;
    IndexMap row_order_, column_order_;  ///< while they live, no other order has their arrays' addresses
};

/// Where ranks share this process, made once for all of them.
std::shared_ptr<const CountedBlocks> counted_blocks(const Adjacency& a, const CutOrder& rows,
                                                    const CutOrder& columns);

}  // namespace gnnbench
