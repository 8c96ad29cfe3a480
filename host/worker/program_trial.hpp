#pragma once
#include <filesystem>

#include "worker/records.hpp"
#include "worker/request.hpp"
#include "worker/trial.hpp"

namespace gnnbench {

/// Runs a trial whose scheme is a program, in this process alone: writes its job to `folder`, and writes a trial's
/// lines from those that it prints; everything but the `end` line. Where a signal ends the program, it ends this
/// process too, so that the trial is classified as any other.
TrialEnd run_program_trial(const TrialRequest& request, const std::filesystem::path& folder, TrialRecord& record);

}  // namespace gnnbench
