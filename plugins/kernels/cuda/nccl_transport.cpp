// NCCL on a stream of communication: every call enqueues and returns, the device completes it.
#include <algorithm>
#include <bit>
#include <exception>
#include <utility>
#include <vector>

#include <nccl.h>

#include <gnnbench/usize.hpp>

#include "check.hpp"
#include "transports.hpp"

namespace gnnbench::cuda {
namespace {

ncclDataType_t nccl_type(DType t) { return t == DType::f32 ? ncclFloat32 : ncclFloat64; }
ncclRedOp_t op_of(ReduceOp op) { return op == ReduceOp::sum ? ncclSum : ncclMax; }

class NcclTransport final : public Transport {
public:
    /// Takes the communicator, which ranks of `control` have together.
    NcclTransport(ProcessGroup control, ncclComm_t comm, Streams& streams, StreamRole role, LibraryMemory memory)
        : control_(std::move(control)),
          comm_(comm),
          streams_(streams),
          role_(role),
          rank_(control_.rank()),
          size_(control_.size()),
          memory_(std::move(memory)) {
        streams_.watch(this, [this] { ask(); });
    }
    NcclTransport(const NcclTransport&) = delete;
    NcclTransport& operator=(const NcclTransport&) = delete;
    ~NcclTransport() override {
        streams_.forget(this);
        // After a failure peers may never arrive, and NCCL's own abort waits for them within a host: left to the process's end.
        if (failed_ || std::uncaught_exceptions() > 0) return;
        (void)cudaStreamSynchronize(stream());
        (void)ncclCommDestroy(comm_);
    }

private:
    // Every call returns immediately, in either form.
    int do_rank() const override { return rank_; }
    int do_size() const override { return size_; }
    std::unique_ptr<Transport> do_split(int color, int key) const override { return split(color, key, role_); }
    std::unique_ptr<Transport> do_aside() const override { return split(0, rank_, StreamRole::background); }
    StreamRole do_stream() const override { return role_; }

    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait) override {
        return enqueued("broadcast", bytes, [&] {
            check(ncclBroadcast(data, data, usize(bytes), ncclInt8, root, comm_, stream()), "ncclBroadcast",
                  comm_);
        });
    }

    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait) override {
        // The result is written on the root alone.
        return enqueued("reduce", count, [&] {
            check(ncclReduce(data, data, usize(count), nccl_type(dtype), op_of(op), root, comm_, stream()),
                  "ncclReduce", comm_);
        });
    }

    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait) override {
        return enqueued("all_reduce", count, [&] {
            check(ncclAllReduce(data, data, usize(count), nccl_type(dtype), op_of(op), comm_, stream()),
                  "ncclAllReduce", comm_);
        });
    }

    Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait) override {
        auto* const first = static_cast<char*>(all);
        if (equal(byte_counts))
            return enqueued("all_gather", byte_counts[0], [&] {
                // In place: this rank's block is where it belongs.
                const auto n = usize(byte_counts[0]);
                check(ncclAllGather(first + n * usize(rank_), first, n, ncclInt8, comm_, stream()),
                      "ncclAllGather", comm_);
            });
        // Blocks of different sizes: a broadcast from each rank, all as one.
        return enqueued("broadcasts", largest(byte_counts), [&] {
            Group group(*this);
            char* at = first;
            for (int root = 0; root < size_; ++root) {
                const auto n = usize(byte_counts[usize(root)]);
                if (n > 0)
                    check(ncclBroadcast(at, at, n, ncclInt8, root, comm_, stream()), "ncclBroadcast", comm_);
                at += n;
            }
            group.end();
        });
    }

    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait) override {
        if (equal(counts))
            return enqueued("reduce_scatter", counts[0], [&] {
                check(ncclReduceScatter(all, mine, usize(counts[0]), nccl_type(dtype), ncclSum, comm_, stream()),
                      "ncclReduceScatter", comm_);
            });
        return enqueued("reduces", largest(counts), [&] {
            Group group(*this);
            const auto* at = static_cast<const char*>(all);
            for (int root = 0; root < size_; ++root) {
                const auto n = usize(counts[usize(root)]);
                // `mine` is written where this rank is the root, and ignored elsewhere.
                if (n > 0)
                    check(ncclReduce(at, mine, n, nccl_type(dtype), ncclSum, root, comm_, stream()), "ncclReduce",
                          comm_);
                at += n * size_of(dtype);
            }
            group.end();
        });
    }

    /// One group for each exchange. What NCCL is given first must be able to finish first: receives alone, ahead of the sends
    /// of their exchange, would hold up every rank; held back for the next sends, they would be part of another exchange.
    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        if (sends.empty() && receives.empty()) return {};
        bool connects = false;
        for (const Message& m : receives) connects |= memory_.first_use("receive", m.peer);
        for (const Message& m : sends) connects |= memory_.first_use("send", m.peer);
        memory_.during(connects, [&] {
            Group group(*this);
            for (const Message& m : receives)
                if (m.bytes > 0)
                    check(ncclRecv(m.data, usize(m.bytes), ncclInt8, m.peer, comm_, stream()), "ncclRecv", comm_);
            for (const Message& m : sends)
                if (m.bytes > 0)
                    check(ncclSend(m.data, usize(m.bytes), ncclInt8, m.peer, comm_, stream()), "ncclSend", comm_);
            group.end();
        });
        return recorded();
    }

    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override {
        return do_exchange(sends, receives);
    }

    void do_barrier() override {
        streams_.synchronize(StreamRole::compute);
        control_.barrier();
    }

    /// ncclGroupStart … ncclGroupEnd, ended also where a call between them throws.
    class Group {
    public:
        explicit Group(NcclTransport& t) : t_(t) { check(ncclGroupStart(), "ncclGroupStart"); }
        Group(const Group&) = delete;
        Group& operator=(const Group&) = delete;
        ~Group() {
            if (open_) (void)ncclGroupEnd();
        }
        void end() {
            open_ = false;
            check(ncclGroupEnd(), "ncclGroupEnd", t_.comm_);
        }

    private:
        NcclTransport& t_;
        bool open_ = true;
    };

    std::unique_ptr<Transport> split(int color, int key, StreamRole role) const {
        ProcessGroup control = control_.split(color, key);
        // NCCL may hang where a communicator is split that has work left.
        streams_.synchronize(role_);
        LibraryMemory memory(memory_.counter());
        ncclComm_t part = nullptr;
        memory.during(true,
                      [&] { check(ncclCommSplit(comm_, color, key, &part, nullptr), "ncclCommSplit", comm_); });
        return std::make_unique<NcclTransport>(std::move(control), part, streams_, role, std::move(memory));
    }

    /// NCCL connects the ranks at the first operation of a kind, and of a size, which selects its algorithm.
    Event enqueued(const char* operation, std::int64_t size, auto&& call) {
        memory_.during(memory_.first_use(operation, std::bit_width(usize(size))), call);
        return recorded();
    }

    static bool equal(std::span<const std::int64_t> counts) {
        return std::all_of(counts.begin(), counts.end(), [&](std::int64_t c) { return c == counts[0]; });
    }
    static std::int64_t largest(std::span<const std::int64_t> counts) {
        return *std::max_element(counts.begin(), counts.end());
    }
    cudaStream_t stream() const { return streams_.of(role_); }
    Event recorded() { return streams_.record(role_); }

    /// While the host waits: has a peer or the network failed?
    void ask() {
        ncclResult_t state = ncclSuccess;
        check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError", comm_);
        if (state == ncclSuccess || state == ncclInProgress) return;
        const char* last = ncclGetLastError(comm_);
        const std::string detail = last ? last : "";
        failed_ = true;
        throw CommunicationError(std::string("NCCL gave up: ") + ncclGetErrorString(state) +
                                 (detail.empty() ? "" : "; NCCL says: " + detail));
    }

    ProcessGroup control_;
    ncclComm_t comm_;
    Streams& streams_;
    const StreamRole role_;
    int rank_, size_;
    bool failed_ = false;
    LibraryMemory memory_;
};

}  // namespace

std::unique_ptr<Transport> make_nccl_transport(ProcessGroup control, Streams& streams, CountMemory count) {
    ncclUniqueId id{};
    if (control.rank() == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    control.broadcast(&id, sizeof id, 0);
    LibraryMemory memory(std::move(count));
    ncclComm_t comm = nullptr;
    memory.during(true,
                  [&] { check(ncclCommInitRank(&comm, control.size(), id, control.rank()), "ncclCommInitRank"); });
    return std::make_unique<NcclTransport>(std::move(control), comm, streams, StreamRole::communication,
                                           std::move(memory));
}

}  // namespace gnnbench::cuda
