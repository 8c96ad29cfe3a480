#pragma once

namespace gnnbench {

/// The whole program: parses, runs the command, turns every error into one message and its exit code.
int run_gnnbench(int argc, char** argv);

}  // namespace gnnbench
