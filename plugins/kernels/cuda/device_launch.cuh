#pragma once
#include "launch.hpp"

namespace gnnbench::cuda {

/// Enqueues `kernel` and returns what the launch itself said; errors while it runs show at the next synchronisation.
template <class... Parameters, class... Arguments>
cudaError_t enqueue(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, Arguments... arguments) {
#ifdef GNNBENCH_CUDA_EMULATED
    return emulated::enqueue(stream, grid, block, reinterpret_cast<const void*>(kernel),
                             [=] { kernel(Parameters(arguments)...); });
#else
    kernel<<<grid, block, 0, stream>>>(Parameters(arguments)...);
    return cudaGetLastError();
#endif
}

/// A block of `lanes` threads side by side, as many rows as fit; a grid of as many blocks as `rows` need.
inline dim3 rows_block(int lanes) {
    return dim3(static_cast<unsigned>(lanes), static_cast<unsigned>(block_threads / lanes));
}
inline dim3 rows_grid(i64 rows, int lanes) { return dim3(static_cast<unsigned>(divided_up(rows, block_threads / lanes))); }

/// The row of this thread in such a launch.
__device__ __forceinline__ i64 row_here() { return static_cast<i64>(blockIdx.x) * blockDim.y + threadIdx.y; }

template <class T>
__device__ __forceinline__ T warp_sum(T x) {
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}
template <class T>
__device__ __forceinline__ T warp_maximum(T x) {
    for (int step = 16; step > 0; step /= 2) {
        const T other = __shfl_xor_sync(0xffffffffu, x, step);
        x = other > x ? other : x;
    }
    return x;
}

}  // namespace gnnbench::cuda
