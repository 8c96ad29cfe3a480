// NCCL over MPI. What a rank sends is read when the call's place in its stream comes, at once, since peers wait
// for it; what it receives is put into device memory as late as the order of streams allows.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <unistd.h>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <nccl.h>

#include "emulated.hpp"

namespace emulated {

struct Nccl {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 1;
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

/// Device memory as it is when everything before this in the stream has happened.
void read(const void* device, Bytes to, cudaStream_t stream) {
    later(stream, [=] { std::memcpy(to->data(), device, to->size()); });
    run_all(*stream);
}
void deliver(Bytes from, void* device, cudaStream_t stream) {
    later(stream, [=] { std::memcpy(device, from->data(), from->size()); });
}
/// Reads nothing, yet runs what comes before: a receive, too, has its place in the stream.
void reach(cudaStream_t stream) { run_all(*stream); }

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

ncclResult_t run_messages() {
    std::vector<MPI_Request> requests;
    std::vector<Bytes> held;
    for (const PointToPoint& m : group.messages) {
        Bytes host = bytes(m.n);
        if (m.send)
            read(m.device, host, m.stream);
        else
            reach(m.stream);
        held.push_back(host);
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
        const PointToPoint& m = group.messages[i];
        requests.emplace_back();
        const int n = static_cast<int>(m.n);
        if (m.send)
            MPI_Isend(held[i]->data(), n, MPI_CHAR, m.peer, 7, m.comm->comm, &requests.back());
        else
            MPI_Irecv(held[i]->data(), n, MPI_CHAR, m.peer, 7, m.comm->comm, &requests.back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < held.size(); ++i) {
        const PointToPoint& m = group.messages[i];
        if (!m.send) deliver(held[i], m.device, m.stream);
        m.comm->ends_in(m.stream);
    }
    group.messages.clear();
    return ncclSuccess;
}

ncclResult_t point_to_point(PointToPoint m) {
    if (m.peer < 0 || m.peer >= m.comm->size || !m.device) return ncclInvalidUsage;
    if (m.comm->peers.insert(m.peer).second && !m.comm->takes(peer_bytes)) return ncclSystemError;
    group.messages.push_back(m);
    return group.depth > 0 ? ncclSuccess : run_messages();
}

/// Control messages, so that ranks of a new communicator find each other.
MPI_Comm control() {
    static MPI_Comm comm = [] {
        MPI_Comm c = MPI_COMM_NULL;
        MPI_Group all;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Comm_create_group(MPI_COMM_WORLD, all, 4711, &c);
        MPI_Group_free(&all);
        return c;
    }();
    return comm;
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
    return hand_over(std::move(made), comm);
}

ncclResult_t ncclCommSplit(ncclComm_t from, int color, int key, ncclComm_t* comm, ncclConfig_t*) {
    if (color < 0 || from->works()) return ncclInvalidUsage;  // the manual: it might hang
    auto made = std::make_unique<Nccl>();
    MPI_Comm_split(from->comm, color, key, &made->comm);
    MPI_Comm_rank(made->comm, &made->rank);
    MPI_Comm_size(made->comm, &made->size);
    return hand_over(std::move(made), comm);
}

ncclResult_t ncclCommDestroy(ncclComm_t c) {
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
        read(from, host, s);
    else
        reach(s);
    MPI_Bcast(host->data(), static_cast<int>(host->size()), MPI_CHAR, root, c->comm);
    deliver(host, to, s);
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t t, ncclRedOp_t op, int root,
                        ncclComm_t c, cudaStream_t s) {
    if (fails("ncclReduce")) return ncclSystemError;
    Bytes mine = bytes(bytes_of(t, count)), sum = bytes(mine->size());
    read(from, mine, s);
    MPI_Reduce(mine->data(), sum->data(), static_cast<int>(count), type_of(t), op_of(op), root, c->comm);
    if (c->rank == root) deliver(sum, to, s);
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t t, ncclRedOp_t op,
                           ncclComm_t c, cudaStream_t s) {
    if (fails("ncclAllReduce")) return ncclSystemError;
    Bytes mine = bytes(bytes_of(t, count)), sum = bytes(mine->size());
    read(from, mine, s);
    MPI_Allreduce(mine->data(), sum->data(), static_cast<int>(count), type_of(t), op_of(op), c->comm);
    deliver(sum, to, s);
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t t, ncclComm_t c,
                           cudaStream_t s) {
    if (fails("ncclAllGather")) return ncclSystemError;
    Bytes mine = bytes(bytes_of(t, count)), all = bytes(mine->size() * static_cast<std::size_t>(c->size));
    read(from, mine, s);
    const int n = static_cast<int>(mine->size());
    MPI_Allgather(mine->data(), n, MPI_CHAR, all->data(), n, MPI_CHAR, c->comm);
    deliver(all, to, s);
    c->ends_in(s);
    return ncclSuccess;
}

ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t t, ncclRedOp_t op,
                               ncclComm_t c, cudaStream_t s) {
    if (fails("ncclReduceScatter")) return ncclSystemError;
    Bytes mine = bytes(bytes_of(t, count * static_cast<std::size_t>(c->size))), sum = bytes(bytes_of(t, count));
    read(from, mine, s);
    MPI_Reduce_scatter_block(mine->data(), sum->data(), static_cast<int>(count), type_of(t), op_of(op), c->comm);
    deliver(sum, to, s);
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
