// The inner loops of the tiled sparse × dense product.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/spmm_tiled_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "simd-inl.hpp"
#include "tiled.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// A panel of Steps · 16 columns: each segment's row of sums is in registers while its nonzeros are added.
template <class T, int Steps>
void multiply_panel(const TiledMatrix<T>& a, const TileBlock& block, const T* tile, T* sums) {
    constexpr std::int64_t width = Steps * panel_step;
    constexpr int vectors = static_cast<int>(width / lanes<T>);
    constexpr std::int64_t line = 64 / sizeof(T), ahead = 3;
    const Tag<T> d;
    const Segment* segment = a.segments.data() + block.first_segment;
    const Segment* const last = segment + block.segments - 1;
    const std::uint16_t* col = a.local_col.data() + block.first_entry;
    const T* value = a.values.data() + block.first_entry;
    for (; segment <= last; ++segment) {
        const T* next = sums + std::min(segment + ahead, last)->row * width;
#pragma GCC unroll 4
        for (std::int64_t c = 0; c < width; c += line) __builtin_prefetch(next + c, 1, 3);
        T* out = sums + segment->row * width;
        Vec<T> sum[vectors];
#pragma GCC unroll 16
        for (int k = 0; k < vectors; ++k) sum[k] = hn::LoadU(d, out + k * lanes<T>);
        const std::uint16_t* const end = col + segment->length;
        if constexpr (vectors <= 2) {
            // Two chains, to hide the latency of multiply-add.
            Vec<T> other[vectors];
#pragma GCC unroll 16
            for (int k = 0; k < vectors; ++k) other[k] = hn::Zero(d);
            for (; col + 2 <= end; col += 2, value += 2) {
                const T *row0 = tile + col[0] * width, *row1 = tile + col[1] * width;
                const Vec<T> v0 = hn::Set(d, value[0]), v1 = hn::Set(d, value[1]);
#pragma GCC unroll 16
                for (int k = 0; k < vectors; ++k) {
                    sum[k] = hn::MulAdd(v0, hn::LoadU(d, row0 + k * lanes<T>), sum[k]);
                    other[k] = hn::MulAdd(v1, hn::LoadU(d, row1 + k * lanes<T>), other[k]);
                }
            }
#pragma GCC unroll 16
            for (int k = 0; k < vectors; ++k) sum[k] = hn::Add(sum[k], other[k]);
        }
        for (; col < end; ++col, ++value) {
            const T* row = tile + *col * width;
            const Vec<T> v = hn::Set(d, *value);
#pragma GCC unroll 16
            for (int k = 0; k < vectors; ++k) sum[k] = hn::MulAdd(v, hn::LoadU(d, row + k * lanes<T>), sum[k]);
        }
#pragma GCC unroll 16
        for (int k = 0; k < vectors; ++k) hn::StoreU(sum[k], d, out + k * lanes<T>);
    }
}

template <class T>
void multiply(const TiledMatrix<T>& a, const TileBlock& block, const T* tile, T* sums, std::int64_t panel) {
    switch (panel / panel_step) {
        case 1:
            return multiply_panel<T, 1>(a, block, tile, sums);
        case 2:
            return multiply_panel<T, 2>(a, block, tile, sums);
        case 3:
            return multiply_panel<T, 3>(a, block, tile, sums);
        default:
            return multiply_panel<T, 4>(a, block, tile, sums);
    }
}

void multiply_block_f32(const TiledMatrix<float>& a, const TileBlock& block, const float* tile, float* sums,
                        std::int64_t panel) {
    multiply(a, block, tile, sums, panel);
}
void multiply_block_f64(const TiledMatrix<double>& a, const TileBlock& block, const double* tile, double* sums,
                        std::int64_t panel) {
    multiply(a, block, tile, sums, panel);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(multiply_block_f32);
HWY_EXPORT(multiply_block_f64);

template <>
void multiply_block(const TiledMatrix<float>& a, const TileBlock& block, const float* tile, float* sums,
                    std::int64_t panel) {
    HWY_DYNAMIC_DISPATCH(multiply_block_f32)(a, block, tile, sums, panel);
}
template <>
void multiply_block(const TiledMatrix<double>& a, const TileBlock& block, const double* tile, double* sums,
                    std::int64_t panel) {
    HWY_DYNAMIC_DISPATCH(multiply_block_f64)(a, block, tile, sums, panel);
}
}  // namespace gnnbench::cpu
#endif
