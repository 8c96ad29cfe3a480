// A sched_yield() for ranks that share cores, in place of the C library's.
//
// Where threads outnumber cores the launcher asks Open MPI to call sched_yield() between the polls of a wait
// (mpi_yield_when_idle). Between ranks alone that is quick. But beside any other busy process, even one of the
// lowest priority, Linux runs that process for a whole time slice, some milliseconds, and a collective of some
// microseconds takes seconds. So with GNNBENCH_YIELD=sleep in the environment, a yield that took that long makes
// the thread's next ones short sleeps, from which it is woken on time. Without it, and outside the programs that
// link this file, the call is the kernel's own.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto a_time_slice = std::chrono::microseconds(2000);
constexpr int sleeps_after_one = 200;
constexpr timespec nap{0, 50'000};

bool sleep_asked() {
    static const bool asked = [] {
        const char* how = std::getenv("GNNBENCH_YIELD");
        return how && std::string_view(how) == "sleep";
    }();
    return asked;
}

int yield_to_backend() { return static_cast<int>(syscall(SYS_sched_yield)); }

}  // namespace

extern "C" int sched_yield() noexcept {
    if (!sleep_asked()) return yield_to_backend();
    thread_local int sleeps = 0;
    if (sleeps > 0) {
        --sleeps;
        return nanosleep(&nap, nullptr);
    }
    const auto begin = Clock::now();
    const int result = yield_to_backend();
    if (Clock::now() - begin < a_time_slice) return result;
    prctl(PR_SET_TIMERSLACK, 1000);  // ns; else the kernel may lengthen a sleep by 50 µs
    sleeps = sleeps_after_one;
    return result;
}
