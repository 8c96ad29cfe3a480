#pragma once
#include <gnnbench/transport.hpp>

#include "core/status.hpp"
#include "worker/records.hpp"
#include "worker/request.hpp"

namespace gnnbench {

/// How a trial ended, from its ranks' point of view.
struct TrialEnd {
    TrialStatus status = TrialStatus::ok;  ///< ok, skipped, oom, failed or diverged
    std::string reason;
    std::string notes = {};  ///< choices made at run time; empty if nothing ran
    /// By rank, on rank 0: the most memory of the host that its process has had in use; null elsewhere, and where nothing
    /// was measured.
    nlohmann::json host_peak_bytes = {};
    std::int64_t epochs = 0;  ///< that were trained, where ranks advance together
};

/// Runs one trial on all ranks of `group`, writing its lines as it goes; everything but the `end` line.
/// Collective. An error on one rank alone leaves the others blocked: the caller must end them.
TrialEnd run_trial(const TrialRequest& request, const ProcessGroup& group, TrialRecord& record);

}  // namespace gnnbench
