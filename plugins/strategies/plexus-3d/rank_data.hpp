#pragma once
#include <vector>

#include <gnnbench/training/shared_reading.hpp>
#include <gnnbench/training/vertex_data.hpp>

#include "layout.hpp"

namespace gnnbench::plexus {

/// The part of the dataset that one rank holds on its device.
struct RankData {
    /// `together` reads the features with the other ranks; null: each rank reads for itself.
    RankData(const Problem& problem, const VertexBlocks& vertices, const Layout& layout,
             const SharedReader* together, Backend& backend);

    Matrix features;  ///< layer 0's F, cut further along d: [n_o / d × f_i]
    /// With input dropout only: original ids of the rows that it falls on, of F's or, aggregated at set-up, of H's [n_d].
    Array<std::int64_t> feature_ids;
    /// Original ids of the rows of each layer's output [n_d]; with dropout only, and none for the last layer.
    std::vector<Array<std::int64_t>> output_ids;
    VertexData outputs;  ///< of the last layer's rows [n_d]
};

/// What each rank holds of X: positions of columns(0)'s order.
std::vector<HeldFeatures> held_features(const Problem& problem, const VertexBlocks& vertices,
                                        const Layout& layout);

}  // namespace gnnbench::plexus
