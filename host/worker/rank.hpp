#pragma once

namespace gnnbench {

/// gnnbench-worker REQUEST.json: one rank of a trial, started by mpiexec. Returns the exit code.
int run_rank(int argc, char** argv);

}  // namespace gnnbench
