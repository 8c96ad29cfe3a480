// Streams and events of the emulated device, and what it says about itself.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "emulated.hpp"

namespace emulated {
namespace {

std::vector<Stream*> streams;

bool lives(const Stream* stream) { return std::find(streams.begin(), streams.end(), stream) != streams.end(); }

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int number_in(const char* variable) {
    const char* text = std::getenv(variable);
    return text ? std::atoi(text) : 0;
}

int seed() {
    static const int asked = number_in("GNNBENCH_EMULATED_SEED");
    return asked;
}
std::minstd_rand chance(static_cast<unsigned>(seed()));

/// Every other time, if there is a seed.
bool by_chance() { return seed() != 0 && chance() % 2 == 0; }

/// A device works while the host goes on: some of its streams get somewhere now.
void progress_by_chance() {
    if (!by_chance()) return;
    Stream& stream = *streams[chance() % streams.size()];
    const auto waiting = static_cast<long>(stream.work.size());
    if (waiting > 0) run_until(stream, stream.done + 1 + static_cast<long>(chance()) % waiting);
}

}  // namespace

void run_until(Stream& stream, long place) {
    if (stream.done >= place || stream.work.empty()) return;
    const Open open;
    while (stream.done < place && !stream.work.empty()) {
        const Stream::Work work = std::move(stream.work.front());
        stream.work.pop_front();
        const AtWork at_work(work.number, work.clock);
        work.run();
        ++stream.done;
    }
}

void run_everything() {
    for (Stream* s : streams) run_all(*s);
}

void wait_for(Stream& stream) {
    run_all(stream);
    host_learns(stream.timeline.clock());
}

Number later(cudaStream_t stream, Site site, std::function<void()> work) {
    const Number number = stream->timeline.next(site);
    stream->work.push_back({std::move(work), number, stream->timeline.clock()});
    progress_by_chance();
    return number;
}

cudaError_t enqueue(cudaStream_t stream, dim3 grid, dim3 block, const void* kernel, std::function<void()> thread) {
    if (fails("launch")) return cudaErrorLaunchFailure;
    const bool grid_fits = grid.x > 0 && grid.x < (1u << 31) && grid.y > 0 && grid.y < (1u << 16);
    if (!grid_fits || block.x * block.y == 0 || block.x * block.y > 1024) return cudaErrorInvalidConfiguration;
    later(stream, {.code = kernel}, [=, thread = std::move(thread)] { run_launch(grid, block, kernel, thread); });
    return cudaSuccess;
}

}  // namespace emulated

using namespace emulated;

const char* cudaGetErrorString(cudaError_t) { return "emulated error"; }
const char* cudaGetErrorName(cudaError_t) { return "emulated"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
namespace {
/// The devices of the machine that a process sees: all, or as CUDA_VISIBLE_DEVICES says.
std::vector<int> visible_devices() {
    const char* asked = std::getenv("GNNBENCH_EMULATED_DEVICES");
    const int all = asked ? std::atoi(asked) : 0;
    std::vector<int> out;
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
        std::istringstream numbers(visible);
        for (std::string number; std::getline(numbers, number, ',');)
            if (const int n = std::atoi(number.c_str()); n < all) out.push_back(n);
    } else {
        for (int n = 0; n < all; ++n) out.push_back(n);
    }
    return out;
}
}  // namespace
cudaError_t cudaGetDeviceCount(int* n) {
    *n = static_cast<int>(visible_devices().size());
    return *n > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaDriverGetVersion(int* v) {
    *v = std::getenv("GNNBENCH_EMULATED_DEVICES") ? 13000 : 0;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* v) {
    *v = 13000;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* v, cudaDeviceAttr a, int) {
    *v = a == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    std::snprintf(p->name, sizeof p->name, "emulated device");
    p->uuid = {};
    p->uuid.bytes[15] = static_cast<char>(visible_devices().at(static_cast<std::size_t>(device)));
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02d",
                  visible_devices().at(static_cast<std::size_t>(device)));
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    const Site site{.call = "cudaMemcpyAsync"};
    if (kind == cudaMemcpyHostToDevice) {
        // It may read its source at any time until it has ended.
        const auto* source = static_cast<const char*>(from);
        const Number number = later(stream, site, [=] {
            writes(to, bytes);
            std::memcpy(to, source, bytes);
        });
        host_keeps(source, bytes, number);
    } else if (kind == cudaMemcpyDeviceToHost) {
        const Number number = later(stream, site, [=] {
            copies_out(from, bytes);
            const OpenHost open(to);
            std::memcpy(to, from, bytes);
        });
        host_waits(to, number);
    } else {
        later(stream, site, [=] {
            reads(from, bytes);
            writes(to, bytes);
            std::memcpy(to, from, bytes);
        });
    }
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    later(stream, {.call = "cudaMemsetAsync"}, [=] {
        writes(to, bytes);
        std::memset(to, value, bytes);
    });
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
    *lowest = 0;
    *highest = -5;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned, int) {
    streams.push_back(*s = new Stream);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
    run_all(*s);
    std::erase(streams, s);
    delete s;
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s) {
    if (fails("cudaStreamQuery")) return cudaErrorLaunchFailure;
    // A device takes its time: the host asks so many times in vain.
    static const int in_vain = number_in("GNNBENCH_EMULATED_NOT_READY");
    if (!s->work.empty() && (s->asked_in_vain < in_vain || by_chance())) {
        ++s->asked_in_vain;
        return cudaErrorNotReady;
    }
    s->asked_in_vain = 0;
    return cudaStreamSynchronize(s);
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    if (std::getenv("GNNBENCH_EMULATED_LAUNCH_FAILS")) return cudaErrorLaunchFailure;
    wait_for(*s);
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
    if (!e->stream || e->stream == s) return cudaSuccess;
    // What was recorded by now counts, also where the event is recorded anew before the stream comes to this.
    s->timeline.wait_for(e->clock);
    later(s, {.call = "cudaStreamWaitEvent"}, [on = e->stream, place = e->place] {
        if (lives(on)) run_until(*on, place);
    });
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* e) {
    *e = new Event;
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
    if (lives(e->stream)) run_until(*e->stream, e->place);
    delete e;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    // A record still under way would write its time into this one.
    if (e->stream != s && lives(e->stream) && e->stream->done < e->place) run_until(*e->stream, e->place);
    e->stream = s;
    e->place = s->given() + 1;
    later(s, {.call = "cudaEventRecord"}, [e, place = e->place] {
        if (e->place == place) e->time_s = now_s();
    });
    e->clock = s->timeline.clock();
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) { return cudaEventSynchronize(e); }
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    if (lives(e->stream)) run_until(*e->stream, e->place);
    host_learns(e->clock);
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
    for (const Event* e : {begin, end})
        if (!host_knows_all(e->clock)) return cudaErrorNotReady;
    *ms = static_cast<float>((end->time_s - begin->time_s) * 1e3);
    return cudaSuccess;
}
