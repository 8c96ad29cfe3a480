#pragma once
#include <optional>
#include <string>

#include <gnnbench/process_group.hpp>

#include "data/store.hpp"
#include "worker/request.hpp"

/// Files that all ranks read. On a shared file system a new one may appear on other hosts some seconds late.

namespace gnnbench {

/// The trial's request as this rank sees it; nothing if it does not.
std::optional<TrialRequest> own_request(const std::string& path);
/// Rank 0 reads it for all. Collective.
TrialRequest shared_request(const std::string& path, const ProcessGroup& world);

/// The dataset of rank 0, on every rank: those that do not see it yet look again for `limit_s`. Throws DataError that names
/// the host which never saw it. Collective.
Store open_on_all(const std::string& folder, const ProcessGroup& group, double limit_s);

}  // namespace gnnbench
