#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace gnnbench {

/// A view of a graph in compressed rows, in the dataset's own vertex order (usually of a
/// memory-mapped store). Row v lists the vertices that v aggregates from: an edge u → v is entry u of row v.
struct GraphView {
    std::span<const std::int64_t> indptr;   ///< length vertices + 1
    std::span<const std::int32_t> indices;  ///< length edges, ascending in each row, no repeats
    std::span<const float> weights;         ///< length edges, or empty: every weight is 1
    bool symmetric = false;                 ///< known to equal its transpose, weights too

    std::int64_t vertices() const { return indptr.empty() ? 0 : static_cast<std::int64_t>(indptr.size()) - 1; }
    std::int64_t edges() const { return static_cast<std::int64_t>(indices.size()); }
};

/// Which split a vertex belongs to; the values stored in a dataset's masks.
enum class Split : std::uint8_t { none = 0, train = 1, validation = 2, test = 3 };

/// A whole dataset as every rank sees it. Memory-mapped: ranks of one host share the pages.
struct DatasetView {
    std::string name;
    GraphView graph;
    std::int64_t feature_count = 0;
    std::span<const float> features;  ///< [vertices × feature_count], row-major
    std::int32_t classes = 0;
    /// Length vertices, −1 where unknown; empty where vertices have several labels.
    std::span<const std::int32_t> labels;
    /// [vertices × classes], row-major: 1 where the vertex has the class's label, else 0. Empty where each has one
    /// label.
    std::span<const std::uint8_t> label_matrix = {};
    std::span<const Split> split;  ///< length vertices

    /// A vertex may have any number of labels, none included: the loss is binary cross-entropy, the score micro-F1.
    bool multi_label() const { return !label_matrix.empty(); }
};

}  // namespace gnnbench
