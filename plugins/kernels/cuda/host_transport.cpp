// MPI through page-locked host memory: copied out before, copied in when the message is there. A fallback: the
// host waits for the communication stream before MPI may read, and for MPI before the device may continue.
#include <utility>
#include <vector>

#include <gnnbench/usize.hpp>

#include "check.hpp"
#include "transports.hpp"

namespace gnnbench::cuda {
namespace {

/// Host memory that will be copied to the device.
struct Arrival {
    const std::byte* host;
    void* device;
    std::size_t bytes;
};

class StagedEvent final : public EventState {
public:
    StagedEvent(Event inner, Streams& streams, std::vector<std::shared_ptr<std::byte>> stages,
                std::vector<Arrival> arrivals)
        : inner_(std::move(inner)),
          streams_(streams),
          stages_(std::move(stages)),
          arrivals_(std::move(arrivals)) {}

    void wait_on_host() override {
        if (std::exchange(done_, true)) return;
        if (!inner_.happened_at_once()) inner_.state()->wait_on_host();
        for (const Arrival& a : arrivals_)
            check(cudaMemcpyAsync(a.device, a.host, a.bytes, cudaMemcpyHostToDevice, streams_.communication()),
                  "cudaMemcpyAsync of a message to the device");
        if (!arrivals_.empty()) streams_.synchronize(StreamRole::communication);
        stages_.clear();
    }
    bool ready() override { return done_ || inner_.ready(); }
    bool completed_by_host() const override { return true; }

private:
    Event inner_;
    Streams& streams_;
    std::vector<std::shared_ptr<std::byte>> stages_;
    std::vector<Arrival> arrivals_;
    bool done_ = false;
};

/// The host's side of one operation, built step by step.
class Stages {
public:
    Stages(Streams& streams, PinnedPool& pinned) : streams_(streams), pinned_(pinned) {}

    std::byte* stage(std::size_t bytes) { return stages_.emplace_back(pinned_.take(bytes)).get(); }
    void out(const void* device, std::byte* host, std::size_t bytes) {
        if (bytes == 0) return;
        check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, streams_.communication()),
              "cudaMemcpyAsync of a message to the host");
    }
    void in(const std::byte* host, void* device, std::size_t bytes) {
        if (bytes > 0) arrivals_.push_back({host, device, bytes});
    }
    /// The host's message for one of the device's that is sent, or received.
    Message to_host(const Message& m) {
        std::byte* host = stage(usize(m.bytes));
        out(m.data, host, usize(m.bytes));
        return {m.peer, host, m.bytes};
    }
    Message from_host(const Message& m) {
        std::byte* host = stage(usize(m.bytes));
        in(host, m.data, usize(m.bytes));
        return {m.peer, host, m.bytes};
    }
    /// What was copied out is there, and what arrives may be written: the stream had waited for the compute
    /// stream.
    void settle() { streams_.synchronize(StreamRole::communication); }
    Event finish(Event inner) {
        return Event(
            std::make_shared<StagedEvent>(std::move(inner), streams_, std::move(stages_), std::move(arrivals_)));
    }

private:
    Streams& streams_;
    PinnedPool& pinned_;
    std::vector<std::shared_ptr<std::byte>> stages_;
    std::vector<Arrival> arrivals_;
};

class HostTransport final : public Transport {
public:
    HostTransport(std::unique_ptr<Transport> mpi, Streams& streams, std::shared_ptr<PinnedPool> pinned,
                  bool direct)
        : mpi_(std::move(mpi)), streams_(streams), pinned_(std::move(pinned)), direct_(direct) {}

private:
    int do_rank() const override { return mpi_->rank(); }
    int do_size() const override { return mpi_->size(); }
    std::unique_ptr<Transport> do_split(int color, int key) const override {
        return std::make_unique<HostTransport>(mpi_->split(color, key), streams_, pinned_, direct_);
    }

    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override {
        const auto n = usize(bytes);
        Stages s = stages();
        std::byte* host = s.stage(n);
        if (rank() == root)
            s.out(data, host, n);
        else
            s.in(host, data, n);
        s.settle();
        return s.finish(mpi_->broadcast(host, bytes, root, wait));
    }

    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) override {
        const std::size_t n = usize(count) * size_of(dtype);
        Stages s = stages();
        std::byte* host = s.stage(n);
        s.out(data, host, n);
        if (rank() == root) s.in(host, data, n);
        s.settle();
        return s.finish(mpi_->reduce(host, count, dtype, op, root, wait));
    }

    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override {
        const std::size_t n = usize(count) * size_of(dtype);
        Stages s = stages();
        std::byte* host = s.stage(n);
        s.out(data, host, n);
        s.in(host, data, n);
        s.settle();
        return s.finish(mpi_->all_reduce(host, count, dtype, op, wait));
    }

    Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) override {
        std::size_t total = 0, mine = 0, at = 0;
        for (std::size_t i = 0; i < byte_counts.size(); ++i) {
            const auto n = usize(byte_counts[i]);
            if (static_cast<int>(i) == rank()) {
                mine = n;
                at = total;
            }
            total += n;
        }
        Stages s = stages();
        std::byte *host = s.stage(total), *device = static_cast<std::byte*>(all);
        s.out(device + at, host + at, mine);
        // The others' blocks, before and after this rank's own.
        s.in(host, device, at);
        s.in(host + at + mine, device + at + mine, total - at - mine);
        s.settle();
        return s.finish(mpi_->all_gather(host, byte_counts, wait));
    }

    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) override {
        std::size_t total = 0;
        for (const std::int64_t c : counts) total += usize(c) * size_of(dtype);
        const std::size_t own = usize(counts[usize(rank())]) * size_of(dtype);
        Stages s = stages();
        std::byte *host_all = s.stage(total), *host_mine = s.stage(own);
        s.out(all, host_all, total);
        s.in(host_mine, mine, own);
        s.settle();
        return s.finish(mpi_->reduce_scatter(host_all, host_mine, counts, dtype, wait));
    }

    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        if (direct_) {
            // MPI ignores streams: its input must be complete, and its output buffer no longer in use.
            streams_.synchronize(StreamRole::communication);
            return mpi_->exchange(sends, receives);
        }
        Stages s = stages();
        std::vector<Message> out, in;
        for (const Message& m : sends) out.push_back(s.to_host(m));
        for (const Message& m : receives) in.push_back(s.from_host(m));
        s.settle();
        return s.finish(mpi_->exchange(out, in));
    }

    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
        if (direct_) {
            streams_.synchronize(StreamRole::communication);
            return mpi_->exchange_each(sends, receives);
        }
        // As do_exchange, but each message is copied in when it is there, and the others may still be on their way.
        Stages sent = stages();
        std::vector<Stages> arriving;
        std::vector<Message> out, in;
        for (const Message& m : sends) out.push_back(sent.to_host(m));
        for (const Message& m : receives) in.push_back(arriving.emplace_back(stages()).from_host(m));
        sent.settle();
        std::vector<Event> events = mpi_->exchange_each(out, in);
        for (std::size_t i = 0; i < arriving.size(); ++i) events[i] = arriving[i].finish(std::move(events[i]));
        events.back() = sent.finish(std::move(events.back()));
        return events;
    }

    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override {
        return do_exchange(sends, receives);
    }

    void do_barrier() override {
        streams_.synchronize(StreamRole::compute);
        mpi_->barrier();
    }

    Stages stages() { return Stages(streams_, *pinned_); }

    std::unique_ptr<Transport> mpi_;
    Streams& streams_;
    std::shared_ptr<PinnedPool> pinned_;
    bool direct_;
};

}  // namespace

std::unique_ptr<Transport> make_host_transport(std::unique_ptr<Transport> mpi, Streams& streams,
                                               std::shared_ptr<PinnedPool> pinned, bool direct) {
    return std::make_unique<HostTransport>(std::move(mpi), streams, std::move(pinned), direct);
}

}  // namespace gnnbench::cuda
