#pragma once
#include "spec/experiment.hpp"
#include "spec/outline.hpp"

namespace gnnbench {

/// Multiplies an outline's varied keys into cells, completed by CellCompletion. Equal cells become one.
void expand(const Outline& outline, const LoadOptions& options, const PluginSource& plugins,
            Experiment& experiment, Findings& findings);

}  // namespace gnnbench
