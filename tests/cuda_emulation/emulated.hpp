#pragma once
#include <deque>
#include <functional>

#include <cuda_runtime_api.h>

namespace emulated {

/// A stream holds work until something waits for it, as late as the order allows: work that another stream should
/// have waited for, and did not, has then not happened.
struct Stream {
    std::deque<std::function<void()>> work;
    long done = 0;  ///< pieces of work that ran
    int asked_in_vain = 0;
    long given() const { return done + static_cast<long>(work.size()); }
};

struct Event {
    Stream* stream = nullptr;  ///< nullptr: never recorded, so nothing to wait for
    long place = 0;            ///< it has happened when so many pieces of the stream's work ran
    double time_s = 0;
};

/// Whether a test wants this call to fail: GNNBENCH_EMULATED_FAILURE=CALL:NUMBER[:RANK], from the call of that number on.
bool fails(const char* call);

/// Runs a stream's work up to a place.
void run_until(Stream& stream, long place);
inline void run_all(Stream& stream) { run_until(stream, stream.given()); }
/// Every thread of a launch, now.
void run_launch(dim3 grid, dim3 block, const void* backend, const std::function<void()>& body);

}  // namespace emulated
