#pragma once
#include <cstdint>

// Arithmetic that both the device and the host's tests run. Free of the standard library's heavy headers: nvcc
// reads it.
#ifdef __CUDACC__
#define GNNBENCH_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define GNNBENCH_HOST_DEVICE inline
#endif

namespace gnnbench::cuda {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

GNNBENCH_HOST_DEVICE i64 divided_up(i64 n, i64 by) { return (n + by - 1) / by; }

/// `count` neighbouring elements that move in one access.
template <class T, int count>
struct alignas(sizeof(T) * count <= 16 ? sizeof(T) * count : 16) Pack {
    T at[count];
};

}  // namespace gnnbench::cuda
