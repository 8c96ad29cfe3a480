#pragma once
#include <cstdint>
#include <string>

#include <gnnbench/strategy.hpp>

#include "partition/measure.hpp"

namespace gnnbench {

/// What a scheme states of an epoch over all its ranks, one a part.
struct StatedCost {
    std::string skipped;          ///< why it does not run on such a partition; empty if it does
    bool at_most = false;         ///< a bound, not the number itself
    Spread sent_bytes, messages;  ///< payload, of a rank
    std::int64_t total_bytes = 0;
};

/// Why the scheme cannot train the model on as many ranks as `parts`, each with a part of one partition, or of one vertex
/// cut; empty if it can.
std::string why_not_stated(const Strategy& scheme, const Params& params, const ModelSpec& model, Part parts,
                           bool vertex_cut);

/// Starts no rank. `model` has all its widths; float32.
StatedCost stated_cost(const Strategy& scheme, const Params& params, const ModelSpec& model,
                       const DatasetView& data, const Partition& partition);

}  // namespace gnnbench
