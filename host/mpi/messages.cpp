#include "mpi/messages.hpp"

#include <exception>
#include <utility>

#include <gnnbench/usize.hpp>

#include "check/of_processes.hpp"

namespace gnnbench {

MpiMessages::~MpiMessages() {
    if (std::uncaught_exceptions() > 0) {
        new std::pair(std::move(pending_),
                      std::move(sent_));  // MPI may still write to them until the process ends
        return;
    }
    for (auto& [handle, p] : pending_) MPI_Wait(&p.request, MPI_STATUS_IGNORE);
    for (Pending& p : sent_) MPI_Wait(&p.request, MPI_STATUS_IGNORE);
}

MpiMessages::Pending& MpiMessages::add(Handle& handle) {
    handle = next_++;
    return pending_[handle];
}

ControlMessages::Handle MpiMessages::broadcast(std::vector<std::byte> bytes, int root) {
    Handle handle = 0;
    Pending& p = add(handle);
    p.content.bytes = std::move(bytes);
    check_mpi(MPI_Ibcast(p.content.bytes.data(), mpi_count(std::ssize(p.content.bytes), "MPI_Ibcast"), MPI_BYTE,
                         root, comm(), &p.request),
              "MPI_Ibcast");
    return handle;
}

ControlMessages::Handle MpiMessages::all_gather(std::vector<std::byte> all,
                                                std::span<const std::int64_t> byte_counts) {
    Handle handle = 0;
    Pending& p = add(handle);
    p.content.bytes = std::move(all);
    std::int64_t at = 0;
    for (const std::int64_t c : byte_counts) {
        p.counts.push_back(mpi_count(c, "MPI_Iallgatherv"));
        p.starts.push_back(mpi_count(at, "MPI_Iallgatherv"));
        at += c;
    }
    check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, p.content.bytes.data(), p.counts.data(), p.starts.data(),
                              MPI_BYTE, comm(), &p.request),
              "MPI_Iallgatherv");
    return handle;
}

ControlMessages::Handle MpiMessages::all_reduce(std::vector<double> numbers, ReduceOp op) {
    Handle handle = 0;
    Pending& p = add(handle);
    p.content.numbers = std::move(numbers);
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, p.content.numbers.data(),
                             mpi_count(std::ssize(p.content.numbers), "MPI_Iallreduce"), MPI_DOUBLE,
                             op == ReduceOp::sum ? MPI_SUM : MPI_MAX, comm(), &p.request),
              "MPI_Iallreduce");
    return handle;
}

void MpiMessages::send(std::vector<std::byte> bytes, int peer) {
    std::erase_if(sent_, [](Pending& p) {
        int done = 0;
        check_mpi(MPI_Test(&p.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    });
    Pending& p = sent_.emplace_back();
    p.content.bytes = std::move(bytes);
    check_mpi(MPI_Isend(p.content.bytes.data(), mpi_count(std::ssize(p.content.bytes), "MPI_Isend"), MPI_BYTE,
                        peer, 0, comm(), &p.request),
              "MPI_Isend");
}

ControlMessages::Handle MpiMessages::receive(std::int64_t bytes, int peer) {
    Handle handle = 0;
    Pending& p = add(handle);
    p.content.bytes.resize(usize(bytes));
    check_mpi(
        MPI_Irecv(p.content.bytes.data(), mpi_count(bytes, "MPI_Irecv"), MPI_BYTE, peer, 0, comm(), &p.request),
        "MPI_Irecv");
    return handle;
}

ControlMessages::Content MpiMessages::take(Handle handle) {
    auto node = pending_.extract(handle);
    require(!node.empty(), "a control message is taken once");
    check_mpi(MPI_Wait(&node.mapped().request, MPI_STATUS_IGNORE), "MPI_Wait");
    return std::move(node.mapped().content);
}

std::unique_ptr<ControlMessages> messages_of_processes(ProcessGroup group) {
    return std::make_unique<MpiMessages>(std::move(group));
}

}  // namespace gnnbench
