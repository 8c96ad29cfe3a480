#pragma once
#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace gnnbench {

/// Called first thing by every rank: the kernel kills it when its launcher is gone, so that nothing of a
/// trial outlives the host, however that ended.
inline void die_with_parent() {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The launcher may have died before the call took effect; an adopted rank has another parent.
    if (getppid() != parent) _exit(1);
}

}  // namespace gnnbench
