#pragma once
#include <vector>

#include "layout.hpp"

namespace gnnbench::plexus {

/// What determines the volume in addition to the layout.
struct EpochKind {
    bool aggregated_input = false;
    int blocks = 1;
    bool trainable = false;
    bool multi_label = false;
};

/// Input dropout falls on F, not on its aggregate.
inline bool drops_features(const Problem& p, const EpochKind& kind) {
    return p.train.input_dropout > 0 && !kind.aggregated_input;
}

/// Rows that the sparse all-reduce moves into layer l's F: by coordinate along d. Both empty: l's is dense.
struct RowTraffic {
    std::vector<std::int64_t> sent, received;  ///< own entries 0
};

/// One epoch of the rank that `layout` is of: README.md's formulas with the real block sizes. `sparse` [layers]
/// describes the input of each layer; empty: all dense.
Volume epoch_volume(const Layout& layout, const EpochKind& kind, const std::vector<RowTraffic>& sparse,
                    std::int64_t element_bytes);

/// The requested grid; extents of 0 are chosen so that all ranks together receive the fewest payload bytes, or that the
/// thesis' model predicts the shortest epoch; with dense all-reduces.
GridShape choose_grid(const Problem& problem, const Options& options, const EpochKind& kind);

}  // namespace gnnbench::plexus
