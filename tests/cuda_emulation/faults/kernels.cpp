// Kernels with a fault each, and the same without it. Compiled as the plugin's device code is: the emulator sees every access.
#include "kernels.hpp"

namespace faulty {
namespace {

using K = void (*)(Call);

void start(K kernel, dim3 grid, dim3 block, const Call& c) {
    emulated::enqueue(c.stream, grid, block, reinterpret_cast<const void*>(kernel), [=] { kernel(c); });
}

int thread() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

void copy_kernel(Call c) {
    if (const int i = thread(); i < c.count) c.to[i] = c.from[i];
}

/// Each thread reads what another of its block wrote, as the column sums do.
template <class T>
void column_sum_kernel(Call c) {
    __shared__ T sums[64];
    sums[threadIdx.x] = c.from[threadIdx.x];
    if (c.mended)
        __syncthreads();
    else
        __syncwarp();  // enough within a warp alone
    c.to[threadIdx.x] = sums[(threadIdx.x + 32) % 64];
}

void warp_reduction_kernel(Call c) {
    __shared__ float sums[32];
    float mine = c.from[threadIdx.x];
    for (unsigned step = 16; step > 0; step /= 2) {
        sums[threadIdx.x] = mine;
        // The shuffle lets all threads meet, and orders nothing.
        if (c.mended)
            __syncwarp();
        else
            (void)__shfl_xor_sync(0xffffffffu, mine, 1);
        mine += sums[threadIdx.x ^ step];
        __syncwarp();
    }
    c.to[threadIdx.x] = mine;
}

/// Two blocks each have a part of one row.
void combine_kernel(Call c) {
    if (threadIdx.x != 0) return;
    auto* row = reinterpret_cast<unsigned*>(c.to);
    if (c.mended)
        atomicAdd(row, 1u);
    else
        *row += 1;
}

/// Threads have two elements each; those of the last one are beyond the end.
void tail_kernel(Call c) {
    const int first = 2 * thread();
    for (int k = 0; k < 2; ++k) {
        const int i = first + k;
        if (i < c.count)
            c.to[i] = c.from[i];
        else if (!c.mended)
            c.to[c.count - 1] = c.from[c.count - 1];
    }
}

/// Rows that lie far apart: the second begins behind 2³¹ elements.
void wide_kernel(Call c) {
    const long far = c.mended ? static_cast<long>(thread()) * c.ld
                              : static_cast<int>(static_cast<unsigned>(thread()) * static_cast<unsigned>(c.ld));
    c.to[far] = 1;
}

/// Two elements at once, from an odd one on.
struct alignas(8) Two {
    float at[2];
};
void pack_kernel(Call c) {
    *reinterpret_cast<Two*>(c.to + (c.mended ? 2 : 1)) = *reinterpret_cast<const Two*>(c.from);
}

void beyond_kernel(Call c) { c.to[c.mended ? c.count - 1 : c.count] = 1; }

void shared_beyond_kernel(Call c) {
    __shared__ float shifted[32];
    float* const to = shifted + threadIdx.x;
    to[c.mended ? 0 : 1] = c.from[threadIdx.x];
    c.to[threadIdx.x] = to[c.mended ? 0 : 1];
}

}  // namespace

void copy(const Call& c) { start(copy_kernel, dim3(static_cast<unsigned>(c.count + 31) / 32), dim3(32), c); }
void column_sum(const Call& c) { start(column_sum_kernel<float>, dim3(1), dim3(64), c); }
void warp_reduction(const Call& c) { start(warp_reduction_kernel, dim3(1), dim3(32), c); }
void combine(const Call& c) { start(combine_kernel, dim3(2), dim3(32), c); }
void tail(Call c) {
    c.count -= 2;
    start(tail_kernel, dim3(1), dim3(32), c);
}
void wide(const Call& c) { start(wide_kernel, dim3(1), dim3(2), c); }
void pack(const Call& c) { start(pack_kernel, dim3(1), dim3(1), c); }
void beyond(const Call& c) { start(beyond_kernel, dim3(1), dim3(1), c); }
void shared_beyond(const Call& c) { start(shared_beyond_kernel, dim3(1), dim3(32), c); }

}  // namespace faulty
