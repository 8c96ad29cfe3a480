#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnbench {

/// What a span of an epoch was spent on. sampling: choosing and preparing a mini-batch, as far as training waited for
/// it.
enum class Phase : std::uint8_t { spmm, gemm, activation, loss, optimizer, pack, sampling, comm, wait, other };
inline constexpr std::size_t phase_count = 10;
inline constexpr std::array<std::string_view, phase_count> phase_names = {
    "spmm", "gemm", "activation", "loss", "optimizer", "pack", "sampling", "comm", "wait", "other"};

/// background: a second stream of communication, whose operations nobody behind them waits for (Transport::aside).
enum class StreamRole : std::uint8_t { compute, communication, background };
inline constexpr std::size_t stream_count = 3;

/// One operation on one stream: seconds since the epoch began.
struct Span {
    Phase phase = Phase::other;
    StreamRole stream = StreamRole::compute;
    const char* operation = "";  ///< static text: "spmm", "broadcast"
    double begin_s = 0, end_s = 0;
    std::int64_t bytes = 0;       ///< payload this rank sends and receives; 0 for compute
    std::int32_t group_size = 0;  ///< ranks that take part; 0 for compute
};

/// Where an epoch's wall time went, on one rank. The phases add up to wall_s.
struct EpochTimes {
    double wall_s = 0;
    /// Time per phase. `comm` is communication that compute did not hide: the time covered by a comm span
    /// and by no compute span. Compute phases are the time of their spans; `other` is the rest.
    std::array<double, phase_count> phase_s{};
    double exposed_comm_s = 0;  ///< = phase_s[comm]
    double total_comm_s = 0;    ///< time covered by comm spans, hidden or not
};

/// The clock of a device that works asynchronously to the host: marks in its streams, read when the epoch is
/// over.
class DeviceClock {
public:
    virtual ~DeviceClock();
    /// Forgets all marks; time 0 is now.
    virtual void begin() = 0;
    /// An epoch begins behind another, without begin().
    virtual void next() {}
    /// A mark after all work enqueued on the span's stream so far, where the span begins; marks count from 0.
    virtual std::size_t mark_begin(const Span& span) = 0;
    /// The mark at the end of the span that began at mark `begin`.
    virtual std::size_t mark_end(const Span& span, std::size_t begin) = 0;
    /// Waits for all streams.
    virtual void wait() = 0;
    /// After wait(): the seconds from begin() to each mark. May take long, so it counts towards no epoch.
    virtual std::vector<double> resolve() = 0;
    /// The host's time since begin(), where it is not this machine's.
    virtual std::optional<double> host_s() const { return std::nullopt; }
};

/// The spans of the current epoch of one rank, or of several that follow one another without a pause, written by Backend
/// and Communicator only.
/// Times come from a clock that the back end supplies (the host's, or device events resolved at the epoch's end).
class Trace {
public:
    using SpanId = std::size_t;
    using Clock = std::chrono::steady_clock;

    /// Spans are timed by `clock`, which must outlive the trace's epochs; nullptr: by the host's clock.
    void use(DeviceClock* clock) { device_ = clock; }

    /// Forgets the last epochs and starts the clock.
    void begin_epoch();
    /// An epoch ends here and the next begins. What is under way goes on: each has its part of it.
    void next_epoch();
    /// Stops the clock. Throws LogicError if a span is still open: some event was never waited for.
    void end_epoch();
    bool recording() const { return recording_; }

    /// The host's time since begin_epoch().
    double now_s() const;
    SpanId open(const Span& span);  ///< begins now; a no-op outside an epoch
    void close(SpanId id);          ///< ends now
    void add(const Span& span);     ///< a whole span with times already known

    /// Of all epochs since begin_epoch(), in its time.
    const std::vector<Span>& spans() const { return spans_; }
    /// Of one of them, counted from 0, as if it were alone: what began before or ends after it is cut there.
    std::vector<Span> spans_of(std::size_t epoch) const;
    EpochTimes times(std::size_t epoch = 0) const;

private:
    Clock::time_point start_{};
    std::vector<double> ends_s_;  ///< of epochs
    bool recording_ = false;
    std::size_t open_ = 0;
    std::vector<Span> spans_;
    struct Marks {
        SpanId span;
        std::size_t begin, end;
    };
    DeviceClock* device_ = nullptr;
    std::vector<Marks> marks_;  ///< of the spans that the device's clock times
};

}  // namespace gnnbench
