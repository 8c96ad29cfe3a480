#pragma once
// Stands in for CUDA's header: the few calls that the kernel `cuda` makes, run on the host (see ../README.md).
#include <cmath>
#include <cstddef>
#include <functional>

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(threads)

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorNotReady = 600,
    cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1 };
using cudaDataType = cudaDataType_t;
constexpr unsigned cudaEventDisableTiming = 2, cudaStreamNonBlocking = 1, cudaHostAllocDefault = 0;

namespace emulated {
struct Stream;
struct Event;
}  // namespace emulated
using cudaStream_t = emulated::Stream*;
using cudaEvent_t = emulated::Event*;
struct cudaUUID_t {
    char bytes[16];
};
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
};

const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetPCIBusId(char*, int, int);
cudaError_t cudaMemGetInfo(std::size_t*, std::size_t*);
cudaError_t cudaMalloc(void**, std::size_t);
cudaError_t cudaFree(void*);
cudaError_t cudaHostAlloc(void**, std::size_t, unsigned);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t);
cudaError_t cudaDeviceGetStreamPriorityRange(int*, int*);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned, int);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);

// What device code sees.
extern dim3 threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffffu);

namespace emulated {
/// One launch: `thread` is called once for each thread of each block. `kernel` tells kernels apart.
cudaError_t enqueue(cudaStream_t stream, dim3 grid, dim3 block, const void* kernel, std::function<void()> thread);
void accesses_atomically(const void* at, std::size_t bytes);
/// A pool lends the first bytes of a block of device memory, which is as good as allocated now.
void lends(void* block, std::size_t bytes);
/// It has the block back: whatever accesses it until it is lent again is wrong.
void has_back(void* block);
/// Exchanges 16 bytes at most with lane ^ mask of the warp.
void shuffle_xor(void* value, std::size_t bytes, int mask);
/// Takes them from a lane of the warp.
void shuffle_from(void* value, std::size_t bytes, int lane);
}  // namespace emulated

template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
    emulated::shuffle_xor(&value, sizeof value, mask);
    return value;
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
    emulated::shuffle_from(&value, sizeof value, lane);
    return value;
}
/// Its accesses are observed as one that is atomic, not as what they are here.
template <class T>
[[gnu::no_sanitize_thread, gnu::noinline]] T atomicAdd(T* to, T value) {
    emulated::accesses_atomically(to, sizeof value);
    const T old = *to;
    *to += value;
    return old;
}
