#include <gnnbench/busy_time.hpp>

#include <time.h>

namespace gnnbench {
namespace {

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

void BusyTime::start() {
    done_s_ = 0;
    resume();
}

void BusyTime::pause() {
    done_s_ = seconds();
    runs_ = false;
}

void BusyTime::resume() {
    start_s_ = cpu_seconds();
    runs_ = true;
}

double BusyTime::seconds() const { return done_s_ + (runs_ ? cpu_seconds() - start_s_ : 0); }

}  // namespace gnnbench
