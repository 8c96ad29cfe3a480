#pragma once
#include <gnnbench/process_group.hpp>

#include "calibrate/samples.hpp"

namespace gnnbench {

/// Collective: measures the `cpu` kernel with so many threads on every rank at the same time, and on two ranks and more
/// the operations of the first two. The samples are those of rank 0; other ranks return none.
MachineSamples measure_machine(const ProcessGroup& world, int threads);

}  // namespace gnnbench
