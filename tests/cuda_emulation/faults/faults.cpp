// Faults on purpose, each of which the emulator must find, and the same without the fault, where it must say nothing.
// usage: emulated_faults NAME [mended]; under mpiexec for those of several ranks. `list` prints the names and their ranks.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <cublas_v2.h>
#include <nccl.h>

#include "kernels.hpp"
#include "meeting.hpp"
#include "order.hpp"
#include "pool.hpp"

namespace {

constexpr int count = 64;
constexpr std::size_t bytes = count * sizeof(float);

/// Two streams, device memory, and a communicator with all ranks where there are several.
struct Machine {
    bool mended = false;
    int rank = 0, ranks = 1;
    cudaStream_t compute = stream(), communication = stream();
    std::vector<float> host = std::vector<float>(count, 1.0f);
    float *a = filled(), *b = filled();

    static cudaStream_t stream() {
        cudaStream_t s = nullptr;
        cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, 0);
        return s;
    }
    float* filled() {
        void* data = nullptr;
        cudaMalloc(&data, bytes);
        cudaMemcpyAsync(data, host.data(), bytes, cudaMemcpyHostToDevice, compute);
        cudaStreamSynchronize(compute);
        return static_cast<float*>(data);
    }
    ncclComm_t communicator() const {
        ncclUniqueId id{};
        if (rank == 0) ncclGetUniqueId(&id);
        MPI_Bcast(&id, sizeof id, MPI_CHAR, 0, MPI_COMM_WORLD);
        ncclComm_t comm = nullptr;
        ncclCommInitRank(&comm, ranks, id, rank);
        return comm;
    }
    /// `to` waits for what is in `from` by now.
    void wait(cudaStream_t to, cudaStream_t from) const { wait(to, recorded(from)); }
    void wait(cudaStream_t to, cudaEvent_t event) const { cudaStreamWaitEvent(to, event, 0); }
    static cudaEvent_t recorded(cudaStream_t s) {
        cudaEvent_t e = nullptr;
        cudaEventCreate(&e);
        cudaEventRecord(e, s);
        return e;
    }
    void finish() const {
        cudaStreamSynchronize(compute);
        cudaStreamSynchronize(communication);
    }
    faulty::Call call(cudaStream_t s, const float* from, float* to) const { return {s, from, to, count, mended}; }
    int other() const { return 1 - rank; }
};

// --- streams ----------------------------------------------------------------------------------------------------------

void pool_too_early(Machine& m) {
    gnnbench::cuda::Pool pool(true);
    void* block = pool.take(bytes);
    cudaMemcpyAsync(block, m.host.data(), bytes, cudaMemcpyHostToDevice, m.communication);
    cudaStreamSynchronize(m.communication);
    faulty::copy(m.call(m.communication, static_cast<float*>(block), m.a));
    if (m.mended) cudaStreamSynchronize(m.communication);
    pool.give_back(block);
    faulty::copy(m.call(m.compute, m.b, static_cast<float*>(pool.take(bytes))));
    m.finish();
}

void returned(Machine& m) {
    gnnbench::cuda::Pool pool(true);
    auto* block = static_cast<float*>(pool.take(bytes));
    cudaMemsetAsync(block, 0, bytes, m.compute);
    m.finish();
    if (!m.mended) pool.give_back(block);
    faulty::copy(m.call(m.compute, block, m.a));
    m.finish();
    if (m.mended) pool.give_back(block);
}

/// The pool's blocks are larger than what it lends of them.
void beyond_lent(Machine& m) {
    gnnbench::cuda::Pool pool(true);
    faulty::beyond(
        m.call(m.compute, m.a, static_cast<float*>(pool.take(m.mended ? bytes : bytes - sizeof(float)))));
    m.finish();
}

/// A product whose second factor has one column less than is said.
void library_beyond(Machine& m) {
    cublasHandle_t blas = nullptr;
    cublasCreate(&blas);
    cublasSetStream(blas, m.compute);
    const float one = 1, zero = 0;
    const int rows = 8, columns = m.mended ? count / rows : count / rows + 1;
    void* product = nullptr;
    cudaMalloc(&product, 2 * bytes);
    cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, rows, &one, m.a, CUDA_R_32F, rows, m.b, CUDA_R_32F,
                 rows, &zero, product, CUDA_R_32F, rows, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    m.finish();
    cublasDestroy(blas);
}

void source_changes(Machine& m) {
    cudaMemcpyAsync(m.a, m.host.data(), bytes, cudaMemcpyHostToDevice, m.compute);
    if (m.mended) cudaStreamSynchronize(m.compute);
    m.host[3] = 7;
    m.finish();
}

#ifdef __SANITIZE_ADDRESS__  // alone knows where the host's memory ends, and an array in shared memory
void source_too_short(Machine& m) {
    const std::vector<float> shorter(m.mended ? count : count - 1);
    cudaMemcpyAsync(m.a, shorter.data(), bytes, cudaMemcpyHostToDevice, m.compute);
    m.finish();
}
#endif

void recorded_too_early(Machine& m) {
    const cudaEvent_t early = Machine::recorded(m.communication);
    faulty::copy(m.call(m.communication, m.b, m.a));
    m.wait(m.compute, m.mended ? Machine::recorded(m.communication) : early);
    faulty::copy(m.call(m.compute, m.a, m.filled()));
    m.finish();
}

void freed_too_early(Machine& m) {
    faulty::copy(m.call(m.compute, m.b, m.a));
    if (m.mended) cudaStreamSynchronize(m.compute);
    cudaFree(m.a);
    m.finish();
}

void read_before_written(Machine& m) {
    void* fresh = nullptr;
    cudaMalloc(&fresh, bytes);
    if (m.mended) cudaMemsetAsync(fresh, 0, bytes, m.compute);
    faulty::copy(m.call(m.compute, static_cast<float*>(fresh), m.a));
    m.finish();
}

// --- messages ---------------------------------------------------------------------------------------------------------

void swap(const Machine& m, ncclComm_t comm, const float* from, float* to) {
    ncclGroupStart();
    ncclRecv(to, bytes, ncclInt8, m.other(), comm, m.communication);
    ncclSend(from, bytes, ncclInt8, m.other(), comm, m.communication);
    ncclGroupEnd();
}

void missing_wait(Machine& m) {
    ncclComm_t comm = m.communicator();
    swap(m, comm, m.a, m.b);
    if (m.mended) m.wait(m.compute, m.communication);
    faulty::copy(m.call(m.compute, m.b, m.filled()));
    m.finish();
    ncclCommDestroy(comm);
}

void received_too_early(Machine& m) {
    ncclComm_t comm = m.communicator();
    faulty::copy(m.call(m.compute, m.b, m.filled()));
    if (m.mended) m.wait(m.communication, m.compute);
    swap(m, comm, m.a, m.b);
    m.finish();
    ncclCommDestroy(comm);
}

void sent_buffer_changes(Machine& m) {
    ncclComm_t comm = m.communicator();
    swap(m, comm, m.a, m.b);
    if (m.mended) m.wait(m.compute, m.communication);
    cudaMemsetAsync(m.a, 1, bytes, m.compute);
    m.finish();
    ncclCommDestroy(comm);
}

void two_orders(Machine& m) {
    ncclComm_t first = m.communicator(), second = m.communicator();
    const auto on = [&](ncclComm_t comm, float* data, cudaStream_t s) {
        ncclAllReduce(data, data, count, ncclFloat32, ncclSum, comm, s);
    };
    if (m.rank == 0 || m.mended) on(first, m.a, m.compute);
    on(second, m.b, m.communication);
    if (m.rank == 1 && !m.mended) on(first, m.a, m.compute);
    m.finish();
    ncclCommDestroy(first);
    ncclCommDestroy(second);
}

void group_left_early(Machine& m) {
    ncclComm_t comm = m.communicator();
    if (m.rank == 0 || m.mended) swap(m, comm, m.a, m.b);
    ncclAllReduce(m.a, m.a, count, ncclFloat32, ncclSum, comm, m.communication);
    m.finish();
    ncclCommDestroy(comm);
}

void communicator_left_early(Machine& m) {
    ncclComm_t comm = m.communicator();
    if (m.rank == 0 || m.mended) ncclAllReduce(m.a, m.a, count, ncclFloat32, ncclSum, comm, m.communication);
    m.finish();
    ncclCommDestroy(comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

void different_calls(Machine& m) {
    ncclComm_t comm = m.communicator();
    if (m.rank == 0 || m.mended)
        ncclAllReduce(m.a, m.a, count, ncclFloat32, ncclSum, comm, m.communication);
    else
        ncclBroadcast(m.a, m.a, count, ncclFloat32, 0, comm, m.communication);
    m.finish();
    ncclCommDestroy(comm);
}

void different_sizes(Machine& m) {
    ncclComm_t comm = m.communicator();
    ncclGroupStart();
    ncclRecv(m.b, m.mended ? bytes : bytes / 2, ncclInt8, m.other(), comm, m.communication);
    ncclSend(m.a, bytes, ncclInt8, m.other(), comm, m.communication);
    ncclGroupEnd();
    m.finish();
    ncclCommDestroy(comm);
}

// --- kernels ----------------------------------------------------------------------------------------------------------

template <auto kernel>
void in_kernel(Machine& m) {
    kernel(m.call(m.compute, m.a, m.b));
    m.finish();
}

void wide(Machine& m) {
    constexpr long ld = (1L << 31) + 8;
    void* far = nullptr;
    if (cudaMalloc(&far, (ld + 8) * sizeof(float)) != cudaSuccess) std::abort();
    faulty::wide({m.compute, m.a, static_cast<float*>(far), count, m.mended, ld});
    m.finish();
}

struct Fault {
    int ranks;
    void (*run)(Machine&);
};
const std::map<std::string, Fault> faults = {
    {"pool_too_early", {1, pool_too_early}},
    {"returned", {1, returned}},
    {"beyond_lent", {1, beyond_lent}},
    {"library_beyond", {1, library_beyond}},
#ifdef __SANITIZE_ADDRESS__
    {"source_too_short", {1, source_too_short}},
    {"shared_beyond", {1, in_kernel<faulty::shared_beyond>}},
#endif
    {"source_changes", {1, source_changes}},
    {"recorded_too_early", {1, recorded_too_early}},
    {"freed_too_early", {1, freed_too_early}},
    {"read_before_written", {1, read_before_written}},
    {"missing_wait", {2, missing_wait}},
    {"received_too_early", {2, received_too_early}},
    {"sent_buffer_changes", {2, sent_buffer_changes}},
    {"two_orders", {2, two_orders}},
    {"group_left_early", {2, group_left_early}},
    {"communicator_left_early", {2, communicator_left_early}},
    {"different_calls", {2, different_calls}},
    {"different_sizes", {2, different_sizes}},
    {"column_sum", {1, in_kernel<faulty::column_sum>}},
    {"warp_reduction", {1, in_kernel<faulty::warp_reduction>}},
    {"combine", {1, in_kernel<faulty::combine>}},
    {"tail", {1, in_kernel<faulty::tail>}},
    {"pack", {1, in_kernel<faulty::pack>}},
    {"beyond", {1, in_kernel<faulty::beyond>}},
    {"wide", {1, wide}},
};

}  // namespace

int main(int argc, char** argv) {
    const auto fault = argc > 1 ? faults.find(argv[1]) : faults.end();
    if (fault == faults.end()) {
        for (const auto& [name, f] : faults) std::printf("%s %d\n", name.c_str(), f.ranks);
        return 2;
    }
    if (fault->second.ranks > 1) MPI_Init(&argc, &argv);
    {
        Machine m{.mended = argc > 2 && std::strcmp(argv[2], "mended") == 0};
        if (fault->second.ranks > 1) {
            MPI_Comm_rank(MPI_COMM_WORLD, &m.rank);
            MPI_Comm_size(MPI_COMM_WORLD, &m.ranks);
        }
        fault->second.run(m);
        std::printf("nothing found\n");
    }
    if (fault->second.ranks > 1) MPI_Finalize();
    return 0;
}
