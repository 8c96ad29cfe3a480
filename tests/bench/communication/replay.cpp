#include "replay.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <gnnbench/error.hpp>

#include "core/mpi_check.hpp"

namespace gnnbench::bench {
namespace {

using Range = std::pair<std::uintptr_t, std::size_t>;

Range range(const void* data, std::int64_t bytes) {
    return {reinterpret_cast<std::uintptr_t>(data), static_cast<std::size_t>(bytes)};
}

/// All memory that a call touches on this rank.
std::vector<Range> touched(const Call& c) {
    std::vector<Range> out;
    for (const auto* side : {&c.sends, &c.receives})
        for (const Message& m : *side) out.push_back(range(m.data, m.bytes));
    if (!c.from) return out;
    const auto element = static_cast<std::int64_t>(size_of(c.dtype));
    const bool sums = c.operation == CommOp::reduce || c.operation == CommOp::all_reduce;
    if (c.operation == CommOp::reduce_scatter) {
        out.push_back(range(c.from, c.size * element));
        int rank = 0;
        MPI_Comm_rank(c.comm, &rank);
        out.push_back(range(c.to, c.counts[static_cast<std::size_t>(rank)] * element));
    } else {
        out.push_back(range(c.from, sums ? c.size * element : c.size));
    }
    return out;
}

MPI_Datatype type_of(const Call& c) { return c.dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE; }
MPI_Op op_of(const Call& c) { return c.reduce == ReduceOp::sum ? MPI_SUM : MPI_MAX; }
int narrow(std::int64_t n) { return mpi_count(n, "a replayed call"); }

std::vector<int> narrowed(const std::vector<std::int64_t>& counts) {
    std::vector<int> out;
    for (const std::int64_t c : counts) out.push_back(narrow(c));
    return out;
}

}  // namespace

Replay::Replay(const std::vector<Call>& calls, Backend& backend) : calls_(calls) {
    std::vector<Range> all;
    for (const Call& c : calls)
        for (const Range& r : touched(c)) all.push_back(r);
    std::sort(all.begin(), all.end());
    for (const auto& [begin, bytes] : all) {
        const auto last = regions_.empty() ? regions_.end() : std::prev(regions_.end());
        if (last != regions_.end() && begin < last->first + last->second.bytes)
            last->second.bytes = std::max(last->second.bytes, begin + bytes - last->first);
        else
            regions_.emplace(begin, Region{bytes, {}});
    }
    for (auto& [begin, region] : regions_) {
        region.memory = backend.allocate(region.bytes);
        std::memset(region.memory.data(), 0, region.bytes);
    }
}

void* Replay::shadow(const void* original) {
    const auto address = reinterpret_cast<std::uintptr_t>(original);
    auto& [begin, region] = *std::prev(regions_.upper_bound(address));
    return static_cast<std::byte*>(region.memory.data()) + (address - begin);
}

std::vector<double> Replay::run(Manner manner) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    for (const Call& c : calls_) {
        check_mpi(MPI_Barrier(c.comm), "MPI_Barrier");
        const auto begin = Clock::now();
        make(c, manner);
        seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return seconds;
}

void Replay::make(const Call& c, Manner manner) {
    if (c.operation == CommOp::point_to_point) return exchange(c);
    if (c.operation == CommOp::all_to_all) return all_to_all(c, manner);
    const bool blocks = manner == Manner::blocking;
    MPI_Request request = MPI_REQUEST_NULL;
    void* data = shadow(c.to);
    int rank = 0;
    MPI_Comm_rank(c.comm, &rank);
    std::vector<int> counts = narrowed(c.counts), starts;  // must live until the call is complete
    switch (c.operation) {
        case CommOp::broadcast:
            blocks ? MPI_Bcast(data, narrow(c.size), MPI_BYTE, c.root, c.comm)
                   : MPI_Ibcast(data, narrow(c.size), MPI_BYTE, c.root, c.comm, &request);
            break;
        case CommOp::reduce: {
            const bool at_root = rank == c.root;
            const void* from = at_root ? MPI_IN_PLACE : data;
            void* to = at_root ? data : nullptr;
            blocks ? MPI_Reduce(from, to, narrow(c.size), type_of(c), op_of(c), c.root, c.comm)
                   : MPI_Ireduce(from, to, narrow(c.size), type_of(c), op_of(c), c.root, c.comm, &request);
            break;
        }
        case CommOp::all_reduce:
            blocks ? MPI_Allreduce(MPI_IN_PLACE, data, narrow(c.size), type_of(c), op_of(c), c.comm)
                   : MPI_Iallreduce(MPI_IN_PLACE, data, narrow(c.size), type_of(c), op_of(c), c.comm, &request);
            break;
        case CommOp::all_gather: {
            int at = 0;
            for (const int n : counts) {
                starts.push_back(at);
                at += n;
            }
            blocks
                ? MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, counts.data(), starts.data(), MPI_BYTE, c.comm)
                : MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, counts.data(), starts.data(), MPI_BYTE, c.comm,
                                  &request);
            break;
        }
        case CommOp::reduce_scatter: {
            const void* from = shadow(c.from);
            blocks ? MPI_Reduce_scatter(from, data, counts.data(), type_of(c), MPI_SUM, c.comm)
                   : MPI_Ireduce_scatter(from, data, counts.data(), type_of(c), MPI_SUM, c.comm, &request);
            break;
        }
        default:
            throw LogicError("a call was recorded that cannot be made again");
    }
    if (!blocks) check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void Replay::exchange(const Call& c) {
    requests_.clear();
    for (const Message& m : c.receives)
        MPI_Irecv(shadow(m.data), narrow(m.bytes), MPI_BYTE, m.peer, 0, c.comm, &requests_.emplace_back());
    for (const Message& m : c.sends)
        MPI_Isend(shadow(m.data), narrow(m.bytes), MPI_BYTE, m.peer, 0, c.comm, &requests_.emplace_back());
    check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
}

void Replay::all_to_all(const Call& c, Manner manner) {
    int size = 1;
    MPI_Comm_size(c.comm, &size);
    struct Side {
        std::vector<int> counts, starts;
        std::byte* base = nullptr;
    };
    const auto side_of = [&](const std::vector<Message>& messages) {
        Side s{std::vector<int>(static_cast<std::size_t>(size)),
               std::vector<int>(static_cast<std::size_t>(size)),
               {}};
        for (const Message& m : messages) {
            auto* p = static_cast<std::byte*>(shadow(m.data));
            s.base = s.base ? std::min(s.base, p) : p;
        }
        for (const Message& m : messages) {
            s.counts[static_cast<std::size_t>(m.peer)] = narrow(m.bytes);
            s.starts[static_cast<std::size_t>(m.peer)] = narrow(static_cast<std::byte*>(shadow(m.data)) - s.base);
        }
        return s;
    };
    const Side out = side_of(c.sends), in = side_of(c.receives);
    if (manner == Manner::blocking) {
        MPI_Alltoallv(out.base, out.counts.data(), out.starts.data(), MPI_BYTE, in.base, in.counts.data(),
                      in.starts.data(), MPI_BYTE, c.comm);
        return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoallv(out.base, out.counts.data(), out.starts.data(), MPI_BYTE, in.base, in.counts.data(),
                   in.starts.data(), MPI_BYTE, c.comm, &request);
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

}  // namespace gnnbench::bench
