#pragma once
#include <gnnbench/transport.hpp>

#include "worker/records.hpp"
#include "worker/request.hpp"

namespace gnnbench {

/// How a trial ended, as far as its ranks know.
struct TrialEnd {
    std::string status = "ok";  ///< ok, skipped, diverged
    std::string reason;
    std::string notes = {};  ///< what was chosen at run time, in the end; empty where nothing ran
};

/// Runs one trial on all ranks of `group`, writing its lines as it goes; everything but the `end` line.
/// Collective. An error that one rank meets alone leaves the others waiting: the caller must end them.
TrialEnd run_trial(const TrialRequest& request, const ProcessGroup& group, TrialRecord& record);

}  // namespace gnnbench
