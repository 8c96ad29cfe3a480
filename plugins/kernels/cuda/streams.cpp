#include "streams.hpp"

#include <algorithm>
#include <thread>

#include <nvtx3/nvToolsExt.h>

#include "check.hpp"

namespace gnnbench::cuda {

EventPool::~EventPool() {
    for (cudaEvent_t e : waiting_) (void)cudaEventDestroy(e);
}

cudaEvent_t EventPool::take() {
    cudaEvent_t e = nullptr;
    if (waiting_.empty()) {
        check(cudaEventCreateWithFlags(&e, flags_), "cudaEventCreateWithFlags");
    } else {
        e = waiting_.back();
        waiting_.pop_back();
    }
    return e;
}

void DeviceEvent::wait_on_host() { check(cudaEventSynchronize(event()), "cudaEventSynchronize"); }

bool DeviceEvent::ready() {
    const cudaError_t code = cudaEventQuery(event());
    if (code == cudaErrorNotReady) return false;
    check(code, "cudaEventQuery");
    return true;
}

namespace {

class RecordedEvent final : public DeviceEvent {
public:
    RecordedEvent(std::shared_ptr<EventPool> pool, cudaStream_t stream)
        : pool_(std::move(pool)), event_(pool_->take()) {
        check(cudaEventRecord(event_, stream), "cudaEventRecord");
    }
    // A waiting stream waits for the earlier record, so the event may be recorded again.
    ~RecordedEvent() override { pool_->give_back(event_); }
    cudaEvent_t event() override { return event_; }

private:
    std::shared_ptr<EventPool> pool_;
    cudaEvent_t event_;
};

}  // namespace

Streams::Streams() : events_(std::make_shared<EventPool>(cudaEventDisableTiming)) {
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
    for (std::size_t made = 0; made < streams_.size(); ++made) {
        const int priority = made == usize(StreamRole::compute) ? lowest : highest;
        const cudaError_t code = cudaStreamCreateWithPriority(&streams_[made], cudaStreamNonBlocking, priority);
        if (code == cudaSuccess) continue;
        while (made > 0) (void)cudaStreamDestroy(streams_[--made]);
        check(code, "cudaStreamCreateWithPriority");
    }
}

Streams::~Streams() {
    for (cudaStream_t s : streams_) (void)cudaStreamDestroy(s);
}

Event Streams::record(StreamRole role) { return Event(std::make_shared<RecordedEvent>(events_, of(role))); }

void Streams::wait(StreamRole role, const Event& event) {
    if (auto* device = dynamic_cast<DeviceEvent*>(event.state())) {
        check(cudaStreamWaitEvent(of(role), device->event(), 0), "cudaStreamWaitEvent");
        return;
    }
    // MPI's: the host completes it, and may enqueue copies to the device on the communication stream.
    event.state()->wait_on_host();
    if (role != StreamRole::communication) wait(role, record(StreamRole::communication));
}

void Streams::synchronize(StreamRole role) {
    cudaError_t code = cudaStreamQuery(of(role));
    for (unsigned turn = 1; code == cudaErrorNotReady; ++turn, code = cudaStreamQuery(of(role))) {
        if (turn % 1024 != 0) continue;
        for (const auto& [owner, ask] : watchers_) ask();
        std::this_thread::yield();
    }
    check(code, "the work of a CUDA stream");
}

void Streams::drain() noexcept {
    for (cudaStream_t s : streams_) (void)cudaStreamSynchronize(s);
}

void Streams::forget(const void* owner) noexcept {
    std::erase_if(watchers_, [&](const auto& w) { return w.first == owner; });
}

StreamClock::~StreamClock() {
    for (cudaEvent_t e : events_) (void)cudaEventDestroy(e);
    if (start_) (void)cudaEventDestroy(start_);
}

void StreamClock::begin() {
    used_ = 0;
    if (!start_) check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventRecord(start_, streams_.compute()), "cudaEventRecord");
}

std::size_t StreamClock::mark(StreamRole role) {
    if (used_ == events_.size()) {
        cudaEvent_t e = nullptr;
        check(cudaEventCreate(&e), "cudaEventCreate");
        events_.push_back(e);
        ranges_.push_back(0);
    }
    check(cudaEventRecord(events_[used_], streams_.of(role)), "cudaEventRecord");
    return used_++;
}

std::size_t StreamClock::mark_begin(const Span& span) {
    const std::size_t m = mark(span.stream);
    ranges_[m] = nvtxRangeStartA(span.operation);
    return m;
}

std::size_t StreamClock::mark_end(const Span& span, std::size_t begin) {
    nvtxRangeEnd(ranges_[begin]);
    return mark(span.stream);
}

void StreamClock::wait() {
    streams_.synchronize(StreamRole::compute);
    streams_.synchronize(StreamRole::communication);
    streams_.synchronize(StreamRole::background);
}

std::vector<double> StreamClock::resolve() {
    std::vector<double> seconds(used_);
    for (std::size_t m = 0; m < used_; ++m) {
        float ms = 0;
        check(cudaEventElapsedTime(&ms, start_, events_[m]), "cudaEventElapsedTime");
        seconds[m] = std::max(0.0, static_cast<double>(ms) * 1e-3);
    }
    return seconds;
}

}  // namespace gnnbench::cuda
