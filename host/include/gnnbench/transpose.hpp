#pragma once
#include <cstdint>
#include <vector>

#include <gnnbench/graph.hpp>

namespace gnnbench {

/// CompressedRows that own their memory.
struct RowArrays {
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<float> weights;

    CompressedRows view() const { return {indptr, indices, weights}; }
};

/// The rows of the transpose of a square matrix, columns of each ascending; with weights if it has any.
RowArrays transpose_of(const CompressedRows& rows);

/// A graph with its transpose at hand, made in memory if it is not. For reading many parts' columns of a directed
/// graph.
class WithTranspose {
public:
    explicit WithTranspose(const GraphView& graph);
    WithTranspose(const WithTranspose&) = delete;  // the view is of its own arrays
    const GraphView& view() const { return view_; }

private:
    RowArrays own_;
    GraphView view_;
};

}  // namespace gnnbench
