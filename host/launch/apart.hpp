#pragma once
#include <functional>
#include <string>

namespace gnnbench {

/// What a function said in a process of its own.
struct ApartResult {
    std::string said;
    /// How the process ended without saying anything ("was killed by signal 6 (Aborted)"); empty if it did.
    std::string failure;
};

/// Calls `look` in a copy of this process and takes what it returns, up to 1 MiB; whatever it does besides stays there. The copy
/// is killed after `limit_s`. For code that may crash or hang, such as a library's as it is opened; to be called while this
/// process has one thread. Its output goes nowhere. Throws EnvironmentError where no process can be made.
ApartResult call_apart(const std::function<std::string()>& look, double limit_s);

}  // namespace gnnbench
