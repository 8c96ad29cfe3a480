#include "mpi/transport.hpp"

#include <numeric>
#include <utility>

#include <gnnbench/usize.hpp>

#include "mpi/pieces.hpp"

// Host memory between ranks. An event is a set of requests of MPI's non-blocking calls. The blocking form calls the
// blocking functions, for which MPI libraries have better algorithms (docs/decisions/waiting-at-once.md).
namespace gnnbench {

namespace {

class Requests final : public EventState {
public:
    ~Requests() override {
        // Only an exception destroys incomplete requests; their memory may be freed next, so complete them first.
        if (!requests_.empty())
            MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }
    MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
    void keep(std::vector<std::vector<int>> arrays) { arrays_ = std::move(arrays); }

    void wait_on_host() override {
        if (requests_.empty()) return;
        auto waiting = std::exchange(requests_, {});
        check_mpi(MPI_Waitall(static_cast<int>(waiting.size()), waiting.data(), MPI_STATUSES_IGNORE),
                  "MPI_Waitall");
        arrays_.clear();
    }
    bool ready() override {
        int all = 1;
        if (!requests_.empty())
            check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE),
                      "MPI_Testall");
        return all != 0;
    }
    bool completed_by_host() const override { return true; }

private:
    std::vector<MPI_Request> requests_;
    std::vector<std::vector<int>> arrays_;  ///< count arrays must live until completion
};

struct Comm {
    MPI_Comm comm = MPI_COMM_NULL;
    Comm() = default;
    Comm(Comm&& o) noexcept : comm(std::exchange(o.comm, MPI_COMM_NULL)) {}
    Comm& operator=(Comm&&) = delete;
    ~Comm() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (comm != MPI_COMM_NULL && !finalized) MPI_Comm_free(&comm);
    }
};

std::int64_t bytes_of(DType t) { return static_cast<std::int64_t>(size_of(t)); }
MPI_Datatype mpi_type(DType t) { return t == DType::f32 ? MPI_FLOAT : MPI_DOUBLE; }
MPI_Op mpi_op(ReduceOp op) { return op == ReduceOp::sum ? MPI_SUM : MPI_MAX; }

class MpiTransport final : public Transport {
public:
    explicit MpiTransport(Comm comm) : comm_(std::move(comm)) {
        check_mpi(MPI_Comm_set_errhandler(comm_.comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check_mpi(MPI_Comm_rank(comm_.comm, &rank_), "MPI_Comm_rank");
        check_mpi(MPI_Comm_size(comm_.comm, &size_), "MPI_Comm_size");
    }

private:
    int do_rank() const override { return rank_; }
    int do_size() const override { return size_; }

    std::unique_ptr<Transport> do_split(int color, int key) const override {
        Comm part;
        check_mpi(MPI_Comm_split(comm_.comm, color, key, &part.comm), "MPI_Comm_split");
        return std::make_unique<MpiTransport>(std::move(part));
    }

    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override {
        // Among more than two ranks MPI's blocking broadcast forwards pieces from rank to rank, which takes longer than
        // reading from the root where ranks share cores.
        const auto bundle = requests(size_ > 2 ? Wait::later : wait);
        for_bytes({root, data, bytes}, [&](void* p, int n) {
            if (bundle)
                check_mpi(MPI_Ibcast(p, n, MPI_BYTE, root, comm_.comm, bundle->add()), "MPI_Ibcast");
            else
                check_mpi(MPI_Bcast(p, n, MPI_BYTE, root, comm_.comm), "MPI_Bcast");
        });
        return Event(bundle);
    }

    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) override {
        const auto bundle = requests(wait);
        const MPI_Datatype type = mpi_type(dtype);
        for_pieces(data, count, dtype, [&](void* p, int n) {
            const void* from = rank_ == root ? MPI_IN_PLACE : p;
            void* to = rank_ == root ? p : nullptr;
            if (bundle)
                check_mpi(MPI_Ireduce(from, to, n, type, mpi_op(op), root, comm_.comm, bundle->add()),
                          "MPI_Ireduce");
            else
                check_mpi(MPI_Reduce(from, to, n, type, mpi_op(op), root, comm_.comm), "MPI_Reduce");
        });
        return Event(bundle);
    }

    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override {
        const auto bundle = requests(wait);
        const MPI_Datatype type = mpi_type(dtype);
        for_pieces(data, count, dtype, [&](void* p, int n) {
            if (bundle)
                check_mpi(MPI_Iallreduce(MPI_IN_PLACE, p, n, type, mpi_op(op), comm_.comm, bundle->add()),
                          "MPI_Iallreduce");
            else
                check_mpi(MPI_Allreduce(MPI_IN_PLACE, p, n, type, mpi_op(op), comm_.comm), "MPI_Allreduce");
        });
        return Event(bundle);
    }

    Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) override {
        std::vector<std::int64_t> first(byte_counts.size());
        std::exclusive_scan(byte_counts.begin(), byte_counts.end(), first.begin(), std::int64_t{0});
        const std::int64_t total = first.back() + byte_counts.back();
        if (total == 0) return {};
        if (total > piece_bytes_) return gather_by_messages(static_cast<char*>(all), byte_counts, first, wait);
        std::vector<int> counts(byte_counts.begin(), byte_counts.end()), starts(first.begin(), first.end());
        const auto bundle = requests(wait);
        if (!bundle) {
            check_mpi(
                MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts.data(), starts.data(), MPI_BYTE, comm_.comm),
                "MPI_Allgatherv");
            return {};
        }
        check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts.data(), starts.data(), MPI_BYTE,
                                  comm_.comm, bundle->add()),
                  "MPI_Iallgatherv");
        bundle->keep({std::move(counts), std::move(starts)});
        return Event(bundle);
    }

    /// Every rank sends its block to each other one, in pieces.
    Event gather_by_messages(char* all, std::span<const std::int64_t> bytes, std::span<const std::int64_t> first,
                             Wait wait) {
        std::vector<Message> sends, receives;
        for (int peer = 0; peer < size_; ++peer) {
            if (peer == rank_) continue;
            sends.push_back({peer, all + first[usize(rank_)], bytes[usize(rank_)]});
            receives.push_back({peer, all + first[usize(peer)], bytes[usize(peer)]});
        }
        return finished(do_exchange(sends, receives), wait);
    }

    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) override {
        const std::int64_t total = std::reduce(counts.begin(), counts.end());
        if (total > piece_bytes_ / bytes_of(dtype)) return reduce_each_block(all, mine, counts, dtype, wait);
        const auto bundle = requests(wait);
        std::vector<int> narrow(counts.begin(), counts.end());
        if (!bundle) {
            check_mpi(MPI_Reduce_scatter(all, mine, narrow.data(), mpi_type(dtype), MPI_SUM, comm_.comm),
                      "MPI_Reduce_scatter");
            return {};
        }
        check_mpi(
            MPI_Ireduce_scatter(all, mine, narrow.data(), mpi_type(dtype), MPI_SUM, comm_.comm, bundle->add()),
            "MPI_Ireduce_scatter");
        bundle->keep({std::move(narrow)});
        return Event(bundle);
    }

    /// Each block by itself to its rank, in pieces.
    Event reduce_each_block(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) {
        const auto bundle = std::make_shared<Requests>();
        const auto* block = static_cast<const char*>(all);
        for (int owner = 0; owner < size_; ++owner) {
            const std::int64_t count = counts[usize(owner)];
            for_mpi_pieces(count, bytes_of(dtype), piece_bytes_, [&](std::int64_t first, int n) {
                const auto offset = usize(first) * size_of(dtype);
                void* const to = owner == rank_ ? static_cast<char*>(mine) + offset : nullptr;
                check_mpi(
                    MPI_Ireduce(block + offset, to, n, mpi_type(dtype), MPI_SUM, owner, comm_.comm, bundle->add()),
                    "MPI_Ireduce");
            });
            block += usize(count) * size_of(dtype);
        }
        return finished(Event(bundle), wait);
    }

    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        auto bundle = std::make_shared<Requests>();
        for (const Message& m : receives)
            for_bytes(m, [&](void* p, int n) {
                check_mpi(MPI_Irecv(p, n, MPI_BYTE, m.peer, 0, comm_.comm, bundle->add()), "MPI_Irecv");
            });
        for (const Message& m : sends)
            for_bytes(m, [&](void* p, int n) {
                check_mpi(MPI_Isend(p, n, MPI_BYTE, m.peer, 0, comm_.comm, bundle->add()), "MPI_Isend");
            });
        return Event(std::move(bundle));
    }

    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
        std::vector<Event> events;
        for (const Message& m : receives) events.push_back(do_exchange({}, std::span(&m, 1)));
        events.push_back(do_exchange(sends, {}));
        return events;
    }

    /// Pairwise messages, as MPI libraries implement all-to-all-v at these sizes; blocks may be anywhere in memory.
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override {
        return do_exchange(sends, receives);
    }

    void do_barrier() override { check_mpi(MPI_Barrier(comm_.comm), "MPI_Barrier"); }

    /// The requests of an operation; none in the blocking form.
    static std::shared_ptr<Requests> requests(Wait wait) {
        return wait == Wait::later ? std::make_shared<Requests>() : nullptr;
    }
    static Event finished(Event event, Wait wait) {
        if (wait == Wait::later) return event;
        event.state()->wait_on_host();
        return {};
    }
    void for_pieces(void* data, std::int64_t count, DType dtype, auto&& call) const {
        for_mpi_pieces(count, bytes_of(dtype), piece_bytes_, [&](std::int64_t first, int n) {
            call(static_cast<char*>(data) + usize(first) * size_of(dtype), n);
        });
    }
    void for_bytes(const Message& m, auto&& call) const {
        for_mpi_pieces(m.bytes, 1, piece_bytes_,
                       [&](std::int64_t first, int n) { call(static_cast<char*>(m.data) + first, n); });
    }

    Comm comm_;
    int rank_ = 0, size_ = 1;
    std::int64_t piece_bytes_ = mpi_piece_bytes();
};

}  // namespace

std::unique_ptr<Transport> transport_among(MPI_Comm comm) {
    // A separate communicator, so that its messages never match the control messages of the group.
    Comm own;
    check_mpi(MPI_Comm_dup(comm, &own.comm), "MPI_Comm_dup");
    return std::make_unique<MpiTransport>(std::move(own));
}

}  // namespace gnnbench
