#pragma once
#include <gnnbench/transport.hpp>

#include "core/status.hpp"
#include "worker/records.hpp"
#include "worker/request.hpp"

namespace gnnbench {

/// Runs one trial on all ranks of `group`, writing its lines as it goes; everything but the `end` line, which it writes
/// only before a late step. Collective. An error on one rank alone leaves the others blocked: the caller must end them.
TrialEnd run_trial(const TrialRequest& request, const ProcessGroup& group, TrialRecord& record);

}  // namespace gnnbench
