#include "core/bell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace gnnbench {

// A futex: the kernel sleeps for as long as the word has the value that was heard (man 2 futex). Not FUTEX_PRIVATE_FLAG,
// since it is other processes that wake.
bool Bell::sleep(std::chrono::nanoseconds most) {
    const timespec limit{most.count() / 1'000'000'000, most.count() % 1'000'000'000};
    return syscall(SYS_futex, &rings_, FUTEX_WAIT, heard_, &limit, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

void Bell::wake() {
    rings_.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, &rings_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace gnnbench
