#pragma once
#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace gnnbench {

/// Called first by every rank: makes the kernel kill it when its launcher dies, so that no process of a
/// trial outlives the host, however the host ended.
inline void die_with_parent() {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The launcher may have died before the call took effect; an adopted rank has another parent.
    if (getppid() != parent) _exit(1);
}

}  // namespace gnnbench
