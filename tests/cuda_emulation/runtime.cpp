// Memory, streams and events of the emulated device. Device memory cannot be touched outside of a stream's work.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>

#include "emulated.hpp"

namespace emulated {
namespace {

/// Address space of the device; pages come when they are touched.
constexpr std::size_t arena_bytes = std::size_t{1} << 31, granule = 4096;

struct Arena {
    char* base = nullptr;
    std::size_t used_to = 0;                    ///< no block lies beyond
    std::map<std::size_t, std::size_t> blocks;  ///< offset → bytes, whole pages
    std::map<std::size_t, std::size_t> asked;   ///< offset → bytes that were asked for
    int open = 0;

    void protect(std::size_t at, std::size_t bytes, int how) const {
        if (bytes > 0 && mprotect(base + at, bytes, how) != 0) std::abort();
    }
} arena;

std::vector<Stream*> streams;

struct Open {
    Open() {
        if (arena.open++ == 0) arena.protect(0, arena.used_to, PROT_READ | PROT_WRITE);
    }
    ~Open() {
        if (--arena.open == 0) arena.protect(0, arena.used_to, PROT_NONE);
    }
};

/// One block and the page behind it: what opening costs grows with the pages that are opened.
struct OpenBlock {
    explicit OpenBlock(std::size_t offset) : at(offset), bytes(arena.blocks.at(offset) + granule) {
        arena.protect(at, bytes, PROT_READ | PROT_WRITE);
    }
    ~OpenBlock() {
        if (arena.open == 0) arena.protect(at, bytes, PROT_NONE);
    }
    std::size_t at, bytes;
};

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// How much device memory there is; a test may make it scarce.
std::size_t device_bytes() {
    const char* asked = std::getenv("GNNBENCH_EMULATED_BYTES");
    return asked ? std::strtoull(asked, nullptr, 10) : arena_bytes;
}

constexpr char guard = 0x5a;

/// Ends the process where something wrote behind a block.
void check_guard(std::size_t at) {
    const OpenBlock open(at);
    const char *p = arena.base + at + arena.asked.at(at), *end = arena.base + at + arena.blocks.at(at) + granule;
    for (; p < end; ++p)
        if (*p != guard) {
            std::fprintf(stderr, "emulated device: something wrote behind a block of %zu bytes\n",
                         arena.asked.at(at));
            std::abort();
        }
}

std::size_t end_of_last_block() {
    if (arena.blocks.empty()) return 0;
    const auto& [at, bytes] = *arena.blocks.rbegin();
    return at + bytes + granule;
}

std::size_t taken() {
    std::size_t sum = 0;
    for (const auto& [at, bytes] : arena.blocks) sum += bytes;
    return sum;
}

}  // namespace

void run_until(Stream& stream, long place) {
    if (stream.done >= place || stream.work.empty()) return;
    const Open open;
    while (stream.done < place && !stream.work.empty()) {
        const auto work = std::move(stream.work.front());
        stream.work.pop_front();
        work();
        ++stream.done;
    }
}

void later(cudaStream_t stream, std::function<void()> work) { stream->work.push_back(std::move(work)); }

cudaError_t enqueue(cudaStream_t stream, dim3 grid, dim3 block, const void* backend,
                    std::function<void()> thread) {
    const bool grid_fits = grid.x > 0 && grid.x < (1u << 31) && grid.y > 0 && grid.y < (1u << 16);
    if (!grid_fits || block.x * block.y == 0 || block.x * block.y > 1024) return cudaErrorInvalidConfiguration;
    later(stream, [=, thread = std::move(thread)] { run_launch(grid, block, backend, thread); });
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
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
    std::snprintf(p->name, sizeof p->name, "emulated device");
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02d",
                  visible_devices().at(static_cast<std::size_t>(device)));
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *total = device_bytes();
    *free = *total - std::min(*total, taken());
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    if (fails("cudaMalloc")) return cudaErrorMemoryAllocation;
    if (!arena.base) {
        void* p = mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) return cudaErrorMemoryAllocation;
        arena.base = static_cast<char*>(p);
    }
    const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + granule - 1) / granule * granule;
    if (taken() + rounded > device_bytes()) return cudaErrorMemoryAllocation;
    std::size_t at = 0;  // the first gap; a page stays free behind every block, so that overruns may be seen
    for (const auto& [offset, size] : arena.blocks) {
        if (offset >= at + rounded + granule) break;
        at = offset + size + granule;
    }
    if (at + rounded + granule > arena_bytes) return cudaErrorMemoryAllocation;
    arena.blocks[at] = rounded;
    arena.asked[at] = bytes;
    arena.used_to = std::max(arena.used_to, at + rounded + granule);
    *data = arena.base + at;
    const OpenBlock open(at);
    // NaN, as far as small tests look: pages that are never touched cost nothing to open and close.
    std::memset(*data, 0xff, std::min<std::size_t>(bytes, std::size_t{1} << 16));
    std::memset(arena.base + at + bytes, guard, rounded + granule - bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
    for (Stream* s : streams) run_all(*s);
    if (!data) return cudaSuccess;
    const auto at = static_cast<std::size_t>(static_cast<char*>(data) - arena.base);
    check_guard(at);
    madvise(data, arena.blocks.at(at) + granule, MADV_DONTNEED);
    arena.blocks.erase(at);
    arena.asked.erase(at);
    if (arena.open == 0) arena.used_to = end_of_last_block();
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
    *data = std::malloc(bytes);
    return *data ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void* data) {
    std::free(data);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
    later(stream, [=] { std::memcpy(to, from, bytes); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    later(stream, [=] { std::memset(to, value, bytes); });
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
    static const char* const asked = std::getenv("GNNBENCH_EMULATED_NOT_READY");
    static const int in_vain = asked ? std::atoi(asked) : 0;
    if (!s->work.empty() && s->asked_in_vain < in_vain) {
        ++s->asked_in_vain;
        return cudaErrorNotReady;
    }
    s->asked_in_vain = 0;
    return cudaStreamSynchronize(s);
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    if (std::getenv("GNNBENCH_EMULATED_LAUNCH_FAILS")) return cudaErrorLaunchFailure;
    run_all(*s);
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
    if (!e->stream || e->stream == s) return cudaSuccess;
    // What was recorded by now counts, also where the event is recorded anew before the stream comes to this.
    later(s, [on = e->stream, place = e->place] {
        if (std::find(streams.begin(), streams.end(), on) != streams.end()) run_until(*on, place);
    });
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* e) {
    *e = new Event;
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
    if (e->stream && std::find(streams.begin(), streams.end(), e->stream) != streams.end())
        run_until(*e->stream, e->place);
    delete e;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    // A record still under way would write its time into this one.
    if (e->stream && std::find(streams.begin(), streams.end(), e->stream) != streams.end() &&
        e->stream->done < e->place && e->stream != s)
        run_until(*e->stream, e->place);
    later(s, [e, place = s->given() + 1] {
        if (e->place == place) e->time_s = now_s();
    });
    e->stream = s;
    e->place = s->given();
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) { return cudaEventSynchronize(e); }
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    if (e->stream) run_until(*e->stream, e->place);
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
    cudaEventSynchronize(begin);
    cudaEventSynchronize(end);
    *ms = static_cast<float>((end->time_s - begin->time_s) * 1e3);
    return cudaSuccess;
}
