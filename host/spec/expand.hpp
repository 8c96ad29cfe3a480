#pragma once
#include "spec/experiment.hpp"
#include "spec/outline.hpp"

namespace gnnbench {

/// Multiplies an outline's varied keys into cells. Equal cells become one; a cell whose scheme needs a single part gets
/// `no_partitioner`, so that one rank is measured once and not once per partitioner.
void expand(const Outline& outline, const LoadOptions& options, const PluginSource& plugins,
            Experiment& experiment, Findings& findings);

/// What a cell of one part has for a partitioner: `block`, which then does nothing, shown as "none".
PluginChoice no_partitioner(const PluginSource& plugins, const PluginChoice& otherwise);

}  // namespace gnnbench
