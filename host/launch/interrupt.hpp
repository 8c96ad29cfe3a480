#pragma once
#include <csignal>

namespace gnnbench {

/// While it lives, SIGINT, SIGTERM and SIGHUP no longer end the process: they set a flag, which `requested()` returns.
/// Signal handlers are global, so at most one of these exists at a time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    static bool requested();

private:
    struct sigaction old_int_{}, old_term_{}, old_hup_{}, old_pipe_{};
};

}  // namespace gnnbench
