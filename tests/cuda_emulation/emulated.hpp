#pragma once
#include <deque>
#include <functional>

#include <cuda_runtime_api.h>

#include "order.hpp"

namespace emulated {

/// A stream holds work until something waits for it, as late as the order allows: work that another stream should
/// have waited for, and did not, has then not happened.
struct Stream {
    struct Work {
        std::function<void()> run;
        Number number;
        Clock clock;  ///< what has ended when it runs, itself included
    };
    std::deque<Work> work;
    Timeline timeline;
    long done = 0;  ///< pieces of work that ran
    int asked_in_vain = 0;
    long given() const { return done + static_cast<long>(work.size()); }
};

struct Event {
    Stream* stream = nullptr;  ///< nullptr: never recorded, so nothing to wait for
    long place = 0;            ///< it has happened when so many pieces of the stream's work ran
    Clock clock = {};          ///< what has ended then
    double time_s = 0;
};

/// Whether a test wants this call to fail: GNNBENCH_EMULATED_FAILURE=CALL:NUMBER[:RANK], from the call of that number on.
bool fails(const char* call);

/// Puts `work` at the end of a stream; it runs when something waits for it, with device memory open.
Number later(cudaStream_t stream, Site site, std::function<void()> work);
/// Runs a stream's work up to a place. The host knows no more than before.
void run_until(Stream& stream, long place);
inline void run_all(Stream& stream) { run_until(stream, stream.given()); }
void run_everything();
/// Runs it all, of which the host then knows.
void wait_for(Stream& stream);
/// Every thread of a launch, now.
void run_launch(dim3 grid, dim3 block, const void* kernel, const std::function<void()>& body);

/// While it lives, device memory may be touched.
class Open {
public:
    Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open();
};

// --- memory.cpp, for streams ------------------------------------------------------------------------------------------

/// Whether device memory has these bytes within one block, as it was asked for.
bool within_block(const void* at, std::size_t bytes);
/// The host must not touch its page-locked memory until it knows that this operation has ended, which writes it.
void host_waits(void* page_locked, Number number);
/// The host must not change its memory until it knows that this operation has ended, which reads it.
void host_keeps(const char* at, std::size_t bytes, Number number);
/// While it lives, page-locked memory may be written though the host must not touch it.
class OpenHost {
public:
    explicit OpenHost(void* page_locked);
    OpenHost(const OpenHost&) = delete;
    OpenHost& operator=(const OpenHost&) = delete;
    ~OpenHost();

private:
    void* at_;
};
/// The host knows of more that has ended.
void host_learns(const Clock& clock);

}  // namespace emulated
