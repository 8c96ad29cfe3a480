#pragma once
#include "stated_volume.hpp"

namespace gnnbench::plexus {

/// [Chapter 4] Seconds of an epoch on a grid, by the thesis' performance model and for the thesis' machine: its
/// regression of SpMM, and rings without latency over bandwidths by hierarchy. Of the rank with the largest blocks.
/// May be negative as printed.
double predicted_s(const Problem& problem, const GridShape& grid, const EpochKind& kind, Prediction prediction);

}  // namespace gnnbench::plexus
