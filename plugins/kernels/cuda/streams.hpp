#pragma once
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include <gnnbench/event.hpp>
#include <gnnbench/trace.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::cuda {

/// A pool of reusable CUDA events, shared by the events taken from it.
class EventPool {
public:
    explicit EventPool(unsigned flags) : flags_(flags) {}
    EventPool(const EventPool&) = delete;
    EventPool& operator=(const EventPool&) = delete;
    ~EventPool();
    cudaEvent_t take();
    void give_back(cudaEvent_t event) noexcept { waiting_.push_back(event); }

private:
    unsigned flags_;
    std::vector<cudaEvent_t> waiting_;
};

/// An event that the device completes by itself: a stream waits for its CUDA event.
class DeviceEvent : public EventState {
public:
    /// The event to wait for; a transport that deferred work starts it now.
    virtual cudaEvent_t event() = 0;
    void wait_on_host() override;
    bool ready() override;
    bool completed_by_host() const override { return false; }
};

/// The streams of a rank. Those of communication have the higher priority: what others wait for starts first.
class Streams {
public:
    Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;
    ~Streams();

    cudaStream_t of(StreamRole role) const { return streams_[usize(role)]; }
    cudaStream_t compute() const { return of(StreamRole::compute); }
    cudaStream_t communication() const { return of(StreamRole::communication); }

    /// An event after all work enqueued on the stream so far.
    Event record(StreamRole role);
    void wait(StreamRole role, const Event& event);
    /// Blocks the host until the stream is empty; polls the watchers, which throw if something
    /// failed.
    void synchronize(StreamRole role);
    /// All streams, and nothing thrown: before memory is given away.
    void drain() noexcept;

    /// `ask` is called while the host waits; until `owner` is forgotten.
    void watch(const void* owner, std::function<void()> ask) { watchers_.emplace_back(owner, std::move(ask)); }
    void forget(const void* owner) noexcept;

private:
    std::array<cudaStream_t, stream_count> streams_{};
    std::shared_ptr<EventPool> events_;
    std::vector<std::pair<const void*, std::function<void()>>> watchers_;
};

/// Times spans by CUDA events, and names them for NVIDIA's profilers (NVTX).
class StreamClock final : public DeviceClock {
public:
    explicit StreamClock(Streams& streams) : streams_(streams) {}
    ~StreamClock() override;
    void begin() override;
    std::size_t mark_begin(const Span& span) override;
    std::size_t mark_end(const Span& span, std::size_t begin) override;
    void wait() override;
    std::vector<double> resolve() override;

private:
    std::size_t mark(StreamRole role);

    Streams& streams_;
    cudaEvent_t start_ = nullptr;
    std::vector<cudaEvent_t> events_;    ///< created once, reused every epoch
    std::vector<std::uint64_t> ranges_;  ///< NVTX's, by mark
    std::size_t used_ = 0;
};

}  // namespace gnnbench::cuda
