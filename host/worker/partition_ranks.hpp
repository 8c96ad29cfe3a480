#pragma once

namespace gnnbench {

/// `gnnbench-worker --partition REQUEST`, for `gnnbench partition --ranks`: all ranks partition a dataset together, each
/// writes the parts of its rows, and rank 0 prints a line after partition_mark. The exit code.
int partition_ranks(const char* request);

}  // namespace gnnbench
