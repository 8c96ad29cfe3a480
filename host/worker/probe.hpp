#pragma once

namespace gnnbench {

/// `gnnbench-worker --probe`, for `gnnbench doctor`: sends a message round the ranks and has rank 0 say so. The exit
/// code.
int probe_ranks();

}  // namespace gnnbench
