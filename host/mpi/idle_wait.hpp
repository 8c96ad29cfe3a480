#pragma once
#include <algorithm>
#include <chrono>
#include <span>
#include <thread>

#include "mpi/check.hpp"

namespace gnnbench {

/// Waits for all of them. MPI's own waits poll without a pause; these pauses are an eighth of the time waited so far,
/// at most a millisecond, so that a long wait takes hundredths of a core and a short one is hardly longer.
inline void wait_idly(std::span<MPI_Request> requests) {
    using namespace std::chrono_literals;
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
        int done = 0;
        check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
                  "MPI_Testall");
        if (done) return;
        const auto waited = std::chrono::steady_clock::now() - start;
        if (waited > 20us)
            std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 8, 5us, 1000us));
    }
}

}  // namespace gnnbench
