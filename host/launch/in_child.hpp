#pragma once
#include <functional>
#include <string>

namespace gnnbench {

/// The result of a function called in a separate process.
struct ChildResult {
    std::string said;
    /// How the process ended without a result ("was killed by signal 6 (Aborted)"); empty if it has one.
    std::string failure;
};

/// Calls `look` in a forked copy of this process and returns its result, up to 1 MiB; side effects stay there. The
/// copy is killed after `limit_s`. For code that may crash or hang, such as a library's as it is opened; to be called
/// while this process has one thread. Its output is discarded. Throws EnvironmentError if no process can be created.
ChildResult call_in_child(const std::function<std::string()>& look, double limit_s);

}  // namespace gnnbench
