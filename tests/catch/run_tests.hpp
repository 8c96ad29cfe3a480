#pragma once
#include <functional>

/// Catch2 itself, compiled once for all test programs: it is most of a small program's compile time.
namespace gnnbench::tests {

struct RunSettings {
    bool expects_assertions =
        false;            ///< each test case, and each section without another in it, must assert something
    bool reports = true;  ///< false: this process's results are not printed
};

/// Runs the tests that the command line chooses, or lists them; Catch's exit code. `begin` is called only before tests
/// run.
int run_tests(int argc, char** argv, const std::function<RunSettings()>& begin);

}  // namespace gnnbench::tests
