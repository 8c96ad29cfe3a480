// NCCL over MPI. What a rank sends is read when the call's place in its stream comes, at once, since peers wait
// for it; what it receives is put into device memory as late as the order of streams allows.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <nccl.h>

#include "emulated.hpp"
#include "meeting.hpp"

namespace emulated {

struct Nccl {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 1;
    std::unique_ptr<Meeting> meeting = {};
    std::vector<void*> buffers = {};  ///< device memory: one for itself, one for each peer of a message
    std::set<int> peers = {};
    cudaStream_t stream = nullptr;  ///< of the last operation
    long place = 0;                 ///< of that operation in the stream

    bool takes(std::size_t bytes) {
        void* data = nullptr;
        if (cudaMalloc(&data, bytes) != cudaSuccess) return false;
        buffers.push_back(data);
        return true;
    }
    void ends_in(cudaStream_t s) {
        stream = s;
        place = s->given();
    }
    bool works() const { return stream && stream->done < place; }
    ~Nccl() {
        for (void* b : buffers) cudaFree(b);
    }
};

namespace {

constexpr std::size_t own_bytes = std::size_t{1} << 16, peer_bytes = std::size_t{1} << 14;

std::size_t bytes_of(ncclDataType_t t, std::size_t count) {
    return count * (t == ncclInt8 ? 1 : (t == ncclFloat32 ? 4 : 8));
}
MPI_Datatype type_of(ncclDataType_t t) {
    return t == ncclInt8 ? MPI_CHAR : (t == ncclFloat32 ? MPI_FLOAT : MPI_DOUBLE);
}
MPI_Op op_of(ncclRedOp_t op) { return op == ncclSum ? MPI_SUM : MPI_MAX; }

using Bytes = std::shared_ptr<std::vector<char>>;
Bytes bytes(std::size_t n) { return std::make_shared<std::vector<char>>(n); }
Bytes part(const Bytes& of, std::size_t first, std::size_t end) {
    return std::make_shared<std::vector<char>>(of->data() + first, of->data() + end);
}

/// Device memory as it is when everything before this in the stream has happened; at once, since peers wait for it. It must
/// stay so until the call has ended, later in the stream.
void read(const char* call, const void* device, Bytes to, cudaStream_t stream) {
    later(stream, {.call = call}, [=] {
        if (to->empty()) return;  // of nothing the address may be null
        reads(device, to->size());
        std::memcpy(to->data(), device, to->size());
    });
    run_all(*stream);
}
void still(const char* call, const void* device, Bytes from, cudaStream_t stream) {
    later(stream, {.call = call}, [=] {
        if (from->empty()) return;
        reads(device, from->size());
        if (std::memcmp(device, from->data(), from->size()) != 0)
            broken("what %s sends changed before it had ended", call);
    });
}
void deliver(const char* call, Bytes from, void* device, cudaStream_t stream) {
    later(stream, {.call = call}, [=] {
        if (from->empty()) return;
        writes(device, from->size());
        std::memcpy(device, from->data(), from->size());
    });
}
/// A receive has its place in the stream, too, from which on its buffer has no value.
void reach(const char* call, void* device, std::size_t n, cudaStream_t stream) {
    later(stream, {.call = call}, [=] {
        if (n == 0) return;
        writes(device, n);
        std::memset(device, 0xff, n);
    });
    run_all(*stream);
}

struct PointToPoint {
    bool send;
    void* device;
    std::size_t n;
    int peer;
    Nccl* comm;
    cudaStream_t stream;
};
struct GroupCall {
    int depth = 0;
    std::vector<PointToPoint> messages;
} group;

/// The messages of a group that are of one communicator.
void run_messages_of(Nccl& comm, const std::vector<PointToPoint>& all) {
    std::vector<PointToPoint> messages;
    std::copy_if(all.begin(), all.end(), std::back_inserter(messages),
                 [&](const PointToPoint& m) { return m.comm == &comm; });
    Meeting::Bytes sends(static_cast<std::size_t>(comm.size)), receives(sends.size());
    std::vector<Bytes> held;
    for (const PointToPoint& m : messages) {
        held.push_back(bytes(m.n));
        (m.send ? sends : receives)[static_cast<std::size_t>(m.peer)].push_back(static_cast<long>(m.n));
        if (m.send)
            read("ncclSend", m.device, held.back(), m.stream);
        else
            reach("ncclRecv", m.device, m.n, m.stream);
    }
    comm.meeting->messages(sends, receives);
    std::vector<MPI_Request> requests(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const PointToPoint& m = messages[i];
        const int n = static_cast<int>(m.n);
        if (m.send)
            MPI_Isend(held[i]->data(), n, MPI_CHAR, m.peer, 7, comm.comm, &requests[i]);
        else
            MPI_Irecv(held[i]->data(), n, MPI_CHAR, m.peer, 7, comm.comm, &requests[i]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const PointToPoint& m = messages[i];
        if (m.send)
            still("ncclSend", m.device, held[i], m.stream);
        else
            deliver("ncclRecv", held[i], m.device, m.stream);
        comm.ends_in(m.stream);
    }
}

ncclResult_t run_messages() {
    const std::vector<PointToPoint> messages = std::exchange(group.messages, {});
    std::set<Nccl*> comms;
    for (const PointToPoint& m : messages)
        if (comms.insert(m.comm).second) run_messages_of(*m.comm, messages);
    return ncclSuccess;
}

ncclResult_t point_to_point(PointToPoint m) {
    if (m.peer < 0 || m.peer >= m.comm->size || !m.device) return ncclInvalidUsage;
    if (m.comm->peers.insert(m.peer).second && !m.comm->takes(peer_bytes)) return ncclSystemError;
    group.messages.push_back(m);
    return group.depth > 0 ? ncclSuccess : run_messages();
}

}  // namespace
}  // namespace emulated

using namespace emulated;

const char* ncclGetErrorString(ncclResult_t r) {
    return r == ncclInvalidUsage ? "invalid usage" : "emulated result";
}
const char* ncclGetLastError(ncclComm_t) { return ""; }
ncclResult_t ncclGetVersion(int* v) {
    *v = 22809;
    return ncclSuccess;
}

namespace {
struct Id {
    int root, number;
};

ncclResult_t hand_over(std::unique_ptr<Nccl> made, ncclComm_t* to) {
    if (!made->takes(own_bytes)) return ncclSystemError;
    *to = made.release();
    return ncclSuccess;
}
}  // namespace

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    static int number = 0;
    Id mine{0, ++number % 1000};
    MPI_Comm_rank(MPI_COMM_WORLD, &mine.root);
    std::memcpy(id, &mine, sizeof mine);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId unique, int rank) {
    if (const char* allowed = std::getenv("GNNBENCH_EMULATED_NCCL_INIT"); allowed && *allowed == '0')
        return ncclInvalidUsage;
    Id id;
    std::memcpy(&id, &unique, sizeof id);
    int me = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    std::vector<int> members(static_cast<std::size_t>(ranks), me);
    // The root learns who has which rank, and tells all.
    const int tag = 100 + id.number;
    if (me == id.root) {
        for (int i = 1; i < ranks; ++i) {
            int told[2];
            MPI_Recv(told, 2, MPI_INT, MPI_ANY_SOURCE, tag, control(), MPI_STATUS_IGNORE);
            members[static_cast<std::size_t>(told[0])] = told[1];
        }
        members[static_cast<std::size_t>(rank)] = me;
        for (int i = 0; i < ranks; ++i)
            if (members[static_cast<std::size_t>(i)] != me)
                MPI_Send(members.data(), ranks, MPI_INT, members[static_cast<std::size_t>(i)], 2000 + tag,
                         control());
    } else {
        const int tell[2] = {rank, me};
        MPI_Send(tell, 2, MPI_INT, id.root, tag, control());
        MPI_Recv(members.data(), ranks, MPI_INT, id.root, 2000 + tag, control(), MPI_STATUS_IGNORE);
    }
    auto made = std::make_unique<Nccl>();
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, ranks, members.data(), &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 5000 + tag, &made->comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    made->rank = rank;
    made->size = ranks;
    made->meeting = std::make_unique<Meeting>(made->comm, members, rank);
    return hand_over(std::move(made), comm);
}

ncclResult_t ncclCommSplit(ncclComm_t from, int color, int key, ncclComm_t* comm, ncclConfig_t*) {
    if (color < 0 || from->works()) return ncclInvalidUsage;  // the manual: it might hang
    auto made = std::make_unique<Nccl>();
    MPI_Comm_split(from->comm, color, key, &made->comm);
    MPI_Comm_rank(made->comm, &made->rank);
    MPI_Comm_size(made->comm, &made->size);
    std::vector<int> members(static_cast<std::size_t>(made->size));
    int me = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Allgather(&me, 1, MPI_INT, members.data(), 1, MPI_INT, made->comm);
    made->meeting = std::make_unique<Meeting>(made->comm, members, made->rank);
    return hand_over(std::move(made), comm);
}

ncclResult_t ncclCommDestroy(ncclComm_t c) {
    c->meeting.reset();
    MPI_Comm_free(&c->comm);
    delete c;
    return ncclSuccess;
}
/// Ends once every rank of the communicator aborts it: the manual wants all of them to, and promises nothing to one alone.
ncclResult_t ncclCommAbort(ncclComm_t c) {
    MPI_Barrier(c->comm);
    delete c;
    return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* r) {
    *r = fails("ncclCommGetAsyncError") ? ncclSystemError : ncclSuccess;
    return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
    ++group.depth;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    if (fails("ncclGroupEnd")) return ncclSystemError;
    return --group.depth == 0 ? run_messages() : ncclSuccess;
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t t, int root, ncclComm_t c,
                           cudaStream_t s) {
    if (fails("ncclBroadcast")) return ncclSystemError;
    Bytes host = bytes(bytes_of(t, count));
    if (c->rank == root)
        read("ncclBroadcast", from, host, s);
    else
        reach("ncclBroadcast", to, host->size(), s);
    c->meeting->collective({"ncclBroadcast", 1, static_cast<long>(host->size()), 0, 0, root});
    MPI_Bcast(host->data(), static_cast<int>(host->size()), MPI_CHAR, root, c->comm);
    if (c->rank == root && from == to)  // in place: nothing is written
        still("ncclBroadcast", from, host, s);
    else
        deliver("ncclBroadcast", host, to, s);
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t t, ncclRedOp_t op, int root,
                        ncclComm_t c, cudaStream_t s) {
    if (fails("ncclReduce")) return ncclSystemError;
    Bytes mine = bytes(bytes_of(t, count)), sum = bytes(mine->size());
    read("ncclReduce", from, mine, s);
    c->meeting->collective({"ncclReduce", 2, static_cast<long>(mine->size()), t, op, root});
    MPI_Reduce(mine->data(), sum->data(), static_cast<int>(count), type_of(t), op_of(op), root, c->comm);
    if (c->rank == root) deliver("ncclReduce", sum, to, s);
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t t, ncclRedOp_t op,
                           ncclComm_t c, cudaStream_t s) {
    if (fails("ncclAllReduce")) return ncclSystemError;
    Bytes mine = bytes(bytes_of(t, count)), sum = bytes(mine->size());
    read("ncclAllReduce", from, mine, s);
    c->meeting->collective({"ncclAllReduce", 3, static_cast<long>(mine->size()), t, op, 0});
    MPI_Allreduce(mine->data(), sum->data(), static_cast<int>(count), type_of(t), op_of(op), c->comm);
    deliver("ncclAllReduce", sum, to, s);
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t t, ncclComm_t c,
                           cudaStream_t s) {
    if (fails("ncclAllGather")) return ncclSystemError;
    Bytes mine = bytes(bytes_of(t, count)), all = bytes(mine->size() * static_cast<std::size_t>(c->size));
    read("ncclAllGather", from, mine, s);
    c->meeting->collective({"ncclAllGather", 4, static_cast<long>(mine->size()), t, 0, 0});
    const int n = static_cast<int>(mine->size());
    MPI_Allgather(mine->data(), n, MPI_CHAR, all->data(), n, MPI_CHAR, c->comm);
    auto* const first = static_cast<char*>(to);
    const std::size_t before = mine->size() * static_cast<std::size_t>(c->rank), after = before + mine->size();
    if (from == first + before) {  // in place: this rank's block is not written
        still("ncclAllGather", from, mine, s);
        deliver("ncclAllGather", part(all, 0, before), first, s);
        deliver("ncclAllGather", part(all, after, all->size()), first + after, s);
    } else {
        deliver("ncclAllGather", all, to, s);
    }
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t t, ncclRedOp_t op,
                               ncclComm_t c, cudaStream_t s) {
    if (fails("ncclReduceScatter")) return ncclSystemError;
    Bytes mine = bytes(bytes_of(t, count * static_cast<std::size_t>(c->size))), sum = bytes(bytes_of(t, count));
    read("ncclReduceScatter", from, mine, s);
    c->meeting->collective({"ncclReduceScatter", 5, static_cast<long>(mine->size()), t, op, 0});
    MPI_Reduce_scatter_block(mine->data(), sum->data(), static_cast<int>(count), type_of(t), op_of(op), c->comm);
    deliver("ncclReduceScatter", sum, to, s);
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t t, int peer, ncclComm_t c,
                      cudaStream_t s) {
    return point_to_point({true, const_cast<void*>(from), bytes_of(t, count), peer, c, s});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t t, int peer, ncclComm_t c, cudaStream_t s) {
    return point_to_point({false, to, bytes_of(t, count), peer, c, s});
}
