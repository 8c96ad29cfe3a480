#pragma once
#include <functional>
#include <string>

#include "calibrate/samples.hpp"

namespace gnnbench {

/// Has so many ranks measure at the same time, with so many threads each.
using SampleSource = std::function<MachineSamples(int ranks, int threads)>;
/// Ranks that are started on this host as a trial's are.
MachineSamples samples_of_ranks(int ranks, int threads);

/// A machine file of this host: as many devices of `threads` cores as it has. Throws SpecError for a name that is none,
/// and where fewer than two devices fit.
std::string calibrated_machine(const std::string& name, int threads, int cores, const SampleSource& source);

}  // namespace gnnbench
