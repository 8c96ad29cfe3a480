#pragma once
#include "attention.hpp"
#include "device_launch.cuh"

// What attention's kernels are made of: a warp has a row, its first lanes a head each, and all of them columns. Heads are
// interleaved, so that column c belongs to head c mod H.
namespace gnnbench::cuda {

constexpr int rows_of_block = block_threads / 32;
/// Columns of a lane that are summed up while the row's entries go by.
constexpr int columns_at_once = 8;
constexpr unsigned whole_warp = 0xffffffffu;

template <class T>
__device__ __forceinline__ T leaky(T x, T slope) {
    return x > T(0) ? x : slope * x;
}
template <class T>
__device__ __forceinline__ T leaky_derivative(T x, T slope) {
    return x > T(0) ? T(1) : slope;
}
template <class T>
__device__ __forceinline__ T minus_infinity() {
    return T(-INFINITY);
}

/// m_ij of this lane's head: by what a coefficient is multiplied under dropout.
template <class T>
__device__ __forceinline__ T kept(const EntryMask& dropout, T scale, i64 i, i64 j, int head) {
    if (!dropout.mask.active) return T(1);
    const u32 block = static_cast<u32>(head) / 4, place = static_cast<u32>(head) % 4;
    const Words words = dropout.mask.words(entry_key(dropout.rows[i], dropout.columns[j]), block);
    return words.of(place) < dropout.mask.threshold ? T(0) : scale;
}

/// Σ term(c) over the columns c of this lane's head.
template <class T, class Term>
__device__ __forceinline__ T sum_of_head(i64 width, int heads, int lane, const Term& term) {
    if (32 % heads == 0) {  // a lane's columns are of one head
        T sum = T(0);
        for (i64 c = lane; c < width; c += 32) sum += term(c);
        for (int step = 16; step >= heads; step /= 2) sum += __shfl_xor_sync(whole_warp, sum, step);
        return sum;
    }
    T mine = T(0);
    for (int h = 0; h < heads; ++h) {
        T sum = T(0);
        for (i64 c = lane; c < width; c += 32)
            if (c % heads == h) sum += term(c);
        sum = warp_sum(sum);
        if (lane == h) mine = sum;
    }
    return mine;
}

/// x · y of this lane's head.
template <class T>
__device__ __forceinline__ T dot_of_head(const T* x, const T* y, i64 width, int heads, int lane) {
    return sum_of_head<T>(width, heads, lane, [=](i64 c) { return x[c] * y[c]; });
}

}  // namespace gnnbench::cuda
