#pragma once

namespace gnnbench {

/// `gnnbench-worker --calibrate THREADS`, for `gnnbench machine calibrate`: all ranks measure, and rank 0 prints a line
/// of samples after samples_mark. The exit code.
int calibrate_ranks(const char* threads);

}  // namespace gnnbench
