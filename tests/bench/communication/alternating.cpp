#include "alternating.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <gnnbench/error.hpp>

#include "mpi/check.hpp"

namespace gnnbench::bench {
namespace {

int narrow(std::int64_t n) { return mpi_count(n, "a plain call"); }
MPI_Datatype type_of(DType t) { return t == DType::f32 ? MPI_FLOAT : MPI_DOUBLE; }
MPI_Op op_of(ReduceOp op) { return op == ReduceOp::sum ? MPI_SUM : MPI_MAX; }

/// One side of an MPI all-to-all-v, in bytes from the first message on.
struct Side {
    std::vector<int> counts, starts;
    std::byte* base = nullptr;

    Side(std::span<const Message> messages, int size)
        : counts(static_cast<std::size_t>(size)), starts(static_cast<std::size_t>(size)) {
        for (const Message& m : messages) {
            auto* p = static_cast<std::byte*>(m.data);
            base = base ? std::min(base, p) : p;
        }
        for (const Message& m : messages) {
            counts[static_cast<std::size_t>(m.peer)] = narrow(m.bytes);
            starts[static_cast<std::size_t>(m.peer)] = narrow(static_cast<std::byte*>(m.data) - base);
        }
    }
};

class AlternatingTransport final : public Transport {
public:
    /// Owns `comm`.
    AlternatingTransport(std::unique_ptr<Transport> inner, MPI_Comm comm, Turn& turn)
        : inner_(std::move(inner)), comm_(comm), turn_(turn) {}
    ~AlternatingTransport() override { MPI_Comm_free(&comm_); }

private:
    int do_rank() const override { return inner_->rank(); }
    int do_size() const override { return inner_->size(); }
    std::unique_ptr<Transport> do_split(int color, int key) const override {
        MPI_Comm part = MPI_COMM_NULL;
        check_mpi(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
        return std::make_unique<AlternatingTransport>(inner_->split(color, key), part, turn_);
    }

    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override {
        const int n = narrow(bytes);
        return made(
            CommOp::broadcast, [&] { return inner_->broadcast(data, bytes, root, wait); },
            [&](MPI_Request* r) { MPI_Ibcast(data, n, MPI_BYTE, root, comm_, r); },
            [&] { MPI_Bcast(data, n, MPI_BYTE, root, comm_); });
    }
    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) override {
        const bool at_root = rank() == root;
        const void* const from = at_root ? MPI_IN_PLACE : data;
        void* const to = at_root ? data : nullptr;
        return made(
            CommOp::reduce, [&] { return inner_->reduce(data, count, dtype, op, root, wait); },
            [&](MPI_Request* r) {
                MPI_Ireduce(from, to, narrow(count), type_of(dtype), op_of(op), root, comm_, r);
            },
            [&] { MPI_Reduce(from, to, narrow(count), type_of(dtype), op_of(op), root, comm_); });
    }
    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override {
        return made(
            CommOp::all_reduce, [&] { return inner_->all_reduce(data, count, dtype, op, wait); },
            [&](MPI_Request* r) {
                MPI_Iallreduce(MPI_IN_PLACE, data, narrow(count), type_of(dtype), op_of(op), comm_, r);
            },
            [&] { MPI_Allreduce(MPI_IN_PLACE, data, narrow(count), type_of(dtype), op_of(op), comm_); });
    }
    Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) override {
        std::vector<int> counts, starts;
        for (const std::int64_t n : byte_counts) {
            starts.push_back(counts.empty() ? 0 : starts.back() + counts.back());
            counts.push_back(narrow(n));
        }
        return made(
            CommOp::all_gather, [&] { return inner_->all_gather(all, byte_counts, wait); },
            [&](MPI_Request* r) {
                MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts.data(), starts.data(), MPI_BYTE, comm_, r);
            },
            [&] {
                MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts.data(), starts.data(), MPI_BYTE, comm_);
            });
    }
    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) override {
        std::vector<int> n;
        for (const std::int64_t c : counts) n.push_back(narrow(c));
        return made(
            CommOp::reduce_scatter, [&] { return inner_->reduce_scatter(all, mine, counts, dtype, wait); },
            [&](MPI_Request* r) { MPI_Ireduce_scatter(all, mine, n.data(), type_of(dtype), MPI_SUM, comm_, r); },
            [&] { MPI_Reduce_scatter(all, mine, n.data(), type_of(dtype), MPI_SUM, comm_); });
    }
    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        if (turn_.maker == Maker::ours) return completed(inner_->exchange(sends, receives));
        timed(CommOp::point_to_point, [&] { messages(sends, receives); });
        return {};
    }
    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
        if (turn_.maker == Maker::ours)
            for (Event& e : inner_->exchange_each(sends, receives)) completed(std::move(e));
        else
            timed(CommOp::point_to_point, [&] { messages(sends, receives); });
        return std::vector<Event>(receives.size() + 1);
    }
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override {
        const Side out(sends, size()), in(receives, size());
        return made(
            CommOp::all_to_all, [&] { return inner_->all_to_all(sends, receives); },
            [&](MPI_Request* r) {
                MPI_Ialltoallv(out.base, out.counts.data(), out.starts.data(), MPI_BYTE, in.base, in.counts.data(),
                               in.starts.data(), MPI_BYTE, comm_, r);
            },
            [&] {
                MPI_Alltoallv(out.base, out.counts.data(), out.starts.data(), MPI_BYTE, in.base, in.counts.data(),
                              in.starts.data(), MPI_BYTE, comm_);
            });
    }
    bool do_reads_rows() const override { return inner_->reads_rows(); }
    std::vector<Event> do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                    std::span<const RowSet> receives) override {
        if (turn_.maker != Maker::ours) throw LogicError("MPI alone reads no rows in place");
        for (Event& e : inner_->read_rows(from, sends, receives)) completed(std::move(e));
        return std::vector<Event>(receives.size() + 1);
    }
    Event do_add_rows(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives) override {
        if (turn_.maker != Maker::ours) throw LogicError("MPI alone adds no rows in place");
        return completed(inner_->add_rows(to, sends, receives));
    }
    void do_barrier() override { check_mpi(MPI_Barrier(comm_), "MPI_Barrier"); }

    Event made(CommOp op, auto&& ours, auto&& start, auto&& block) {
        if (turn_.maker == Maker::ours) return completed(ours());
        timed(op, [&] {
            if (turn_.maker == Maker::blocking) return block();
            MPI_Request request = MPI_REQUEST_NULL;
            start(&request);
            check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        });
        return {};
    }
    void timed(CommOp op, auto&& call) {
        using Clock = std::chrono::steady_clock;
        const auto begin = Clock::now();
        call();
        turn_.calls.push_back({op, std::chrono::duration<double>(Clock::now() - begin).count()});
    }
    void messages(std::span<const Message> sends, std::span<const Message> receives) {
        requests_.clear();
        for (const Message& m : receives)
            MPI_Irecv(m.data, narrow(m.bytes), MPI_BYTE, m.peer, 0, comm_, &requests_.emplace_back());
        for (const Message& m : sends)
            MPI_Isend(m.data, narrow(m.bytes), MPI_BYTE, m.peer, 0, comm_, &requests_.emplace_back());
        check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
                  "MPI_Waitall");
    }
    static Event completed(Event event) {
        if (!event.happened_at_once()) event.state()->wait_on_host();
        return {};
    }

    std::unique_ptr<Transport> inner_;
    MPI_Comm comm_;
    Turn& turn_;
    std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Transport> make_alternating_transport(std::unique_ptr<Transport> inner, MPI_Comm same_ranks,
                                                      Turn& turn) {
    MPI_Comm own = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(same_ranks, &own), "MPI_Comm_dup");
    return std::make_unique<AlternatingTransport>(std::move(inner), own, turn);
}

}  // namespace gnnbench::bench
