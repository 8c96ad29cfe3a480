// Waits that give the core away, for ranks that share cores under an MPI library without such a setting.
//
// MPICH polls until a call ends. Where ranks outnumber cores the one that is waited for may not run before a time slice of
// the waiting one has passed, and a collective of some microseconds takes milliseconds. So with GNNBENCH_YIELD in the
// environment, as for Open MPI (yield.cpp), the blocking calls below are begun without blocking and asked for until they are
// done, with sched_yield() between. They stand before MPI's own by its profiling interface (MPI 4.0, section 15.2).
//
// What waits without being named here, communicators being made and windows above all, waits in the library's own loop.
// Where that is UCX's, as in Debian's MPICH, a round of it that found nothing gives the core away, too: 6 ranks on 2 cores
// ran tests/mpi/grid_and_loss.cpp in 0.3 s in place of 25. Under another library all of it is the library's.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#if defined(MPICH_VERSION)
#include <dlfcn.h>
#include <sched.h>

#include <cstdlib>

namespace {

bool yields() {
    static const bool asked = std::getenv("GNNBENCH_YIELD") != nullptr;
    return asked;
}

/// `begun`: the code of the call that made the request.
int finish(int begun, MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE) {
    int code = begun, done = 0;
    while (code == MPI_SUCCESS && (code = PMPI_Test(&request, &done, status)) == MPI_SUCCESS && !done)
        sched_yield();
    return code;
}

}  // namespace

extern "C" {

/// UCX (ucp/api/ucp.h): how many operations a round of polling completed or moved on.
unsigned ucp_worker_progress(void* worker) {
    using Progress = unsigned (*)(void*);
    static const auto next = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
    const unsigned moved = next(worker);
    if (moved == 0 && yields()) sched_yield();
    return moved;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    return yields() ? finish(MPI_SUCCESS, *request, status) : PMPI_Wait(request, status);
}
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (!yields()) return PMPI_Waitall(count, requests, statuses);
    int code = MPI_SUCCESS, done = 0;
    while ((code = PMPI_Testall(count, requests, &done, statuses)) == MPI_SUCCESS && !done) sched_yield();
    return code;
}
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (!yields()) return PMPI_Send(data, count, type, to, tag, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Isend(data, count, type, to, tag, comm, &request), request);
}
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    if (!yields()) return PMPI_Recv(data, count, type, from, tag, comm, status);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Irecv(data, count, type, from, tag, comm, &request), request, status);
}
int MPI_Barrier(MPI_Comm comm) {
    if (!yields()) return PMPI_Barrier(comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Ibarrier(comm, &request), request);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    if (!yields()) return PMPI_Bcast(data, count, type, root, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Ibcast(data, count, type, root, comm, &request), request);
}
int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    if (!yields()) return PMPI_Reduce(from, to, count, type, op, root, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Ireduce(from, to, count, type, op, root, comm, &request), request);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    if (!yields()) return PMPI_Allreduce(from, to, count, type, op, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Iallreduce(from, to, count, type, op, comm, &request), request);
}
int MPI_Reduce_scatter(const void* from, void* to, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
    if (!yields()) return PMPI_Reduce_scatter(from, to, counts, type, op, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Ireduce_scatter(from, to, counts, type, op, comm, &request), request);
}
int MPI_Allgather(const void* mine, int count, MPI_Datatype type, void* all, int each, MPI_Datatype of,
                  MPI_Comm comm) {
    if (!yields()) return PMPI_Allgather(mine, count, type, all, each, of, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Iallgather(mine, count, type, all, each, of, comm, &request), request);
}
int MPI_Allgatherv(const void* mine, int count, MPI_Datatype type, void* all, const int counts[],
                   const int starts[], MPI_Datatype of, MPI_Comm comm) {
    if (!yields()) return PMPI_Allgatherv(mine, count, type, all, counts, starts, of, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Iallgatherv(mine, count, type, all, counts, starts, of, comm, &request), request);
}
int MPI_Gatherv(const void* mine, int count, MPI_Datatype type, void* all, const int counts[], const int starts[],
                MPI_Datatype of, int root, MPI_Comm comm) {
    if (!yields()) return PMPI_Gatherv(mine, count, type, all, counts, starts, of, root, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Igatherv(mine, count, type, all, counts, starts, of, root, comm, &request), request);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
    if (!yields()) return PMPI_Comm_dup(comm, copy);
    MPI_Request request = MPI_REQUEST_NULL;
    return finish(PMPI_Comm_idup(comm, copy, &request), request);
}

}  // extern "C"
#endif
