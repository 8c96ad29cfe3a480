// The inner loops of the tiled sparse × dense product.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/spmm_tiled_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "simd-inl.hpp"
#include "stretch-inl.hpp"
#include "tiled.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// A panel of Steps · 16 columns: each segment's row of sums is in registers while its nonzeros are added. The loop over
/// nonzeros is not unrolled: the same loads from several places in the code took up to half as long again.
template <class T, int Steps>
void multiply_panel(const TiledMatrix<T>& a, const TileBlock& block, const TilesOfB<T>& b, T* sums) {
    constexpr std::int64_t width = Steps * panel_step, segments_ahead = 8, nonzeros_ahead = 16;
    constexpr int vectors = static_cast<int>(width / lanes<T>), lines = static_cast<int>(width * sizeof(T) / 64);
    // Narrow rows arrive in time without; float64 verifies and is not timed.
    constexpr bool prefetch_b = sizeof(T) == 4 && Steps > 1;
    const Tag<T> d;
    const Segment* segment = a.segments.data() + block.first_segment;
    const Segment* const end_segment = segment + block.segments;
    const std::uint16_t* col = a.local_col.data() + block.first_entry;
    const T* value = a.values.data() + block.first_entry;
    Stretch next(b.next, b.next_elements * static_cast<std::int64_t>(sizeof(T)), block.segments);
    for (; segment < end_segment; ++segment) {
        next.prefetch_some();
        prefetch_to_write<lines>(sums + segment[segments_ahead].row * width);
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
#pragma GCC unroll 1
            for (; col + 2 <= end; col += 2, value += 2) {
                if constexpr (prefetch_b) {
                    prefetch_to_read<lines>(b.here + col[nonzeros_ahead] * width);
                    prefetch_to_read<lines>(b.here + col[nonzeros_ahead + 1] * width);
                }
                const T *row0 = b.here + col[0] * width, *row1 = b.here + col[1] * width;
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
#pragma GCC unroll 1
        for (; col < end; ++col, ++value) {
            if constexpr (prefetch_b) prefetch_to_read<lines>(b.here + col[nonzeros_ahead] * width);
            const T* row = b.here + *col * width;
            const Vec<T> v = hn::Set(d, *value);
#pragma GCC unroll 16
            for (int k = 0; k < vectors; ++k) sum[k] = hn::MulAdd(v, hn::LoadU(d, row + k * lanes<T>), sum[k]);
        }
#pragma GCC unroll 16
        for (int k = 0; k < vectors; ++k) hn::StoreU(sum[k], d, out + k * lanes<T>);
    }
}

template <class T>
void multiply(const TiledMatrix<T>& a, const TileBlock& block, const TilesOfB<T>& b, T* sums, std::int64_t panel) {
    switch (panel / panel_step) {
        case 1:
            return multiply_panel<T, 1>(a, block, b, sums);
        case 2:
            return multiply_panel<T, 2>(a, block, b, sums);
        case 3:
            return multiply_panel<T, 3>(a, block, b, sums);
        default:
            return multiply_panel<T, 4>(a, block, b, sums);
    }
}

void multiply_block_f32(const TiledMatrix<float>& a, const TileBlock& block, const TilesOfB<float>& b, float* sums,
                        std::int64_t panel) {
    multiply(a, block, b, sums, panel);
}
void multiply_block_f64(const TiledMatrix<double>& a, const TileBlock& block, const TilesOfB<double>& b,
                        double* sums, std::int64_t panel) {
    multiply(a, block, b, sums, panel);
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
void multiply_block(const TiledMatrix<float>& a, const TileBlock& block, const TilesOfB<float>& b, float* sums,
                    std::int64_t panel) {
    HWY_DYNAMIC_DISPATCH(multiply_block_f32)(a, block, b, sums, panel);
}
template <>
void multiply_block(const TiledMatrix<double>& a, const TileBlock& block, const TilesOfB<double>& b, double* sums,
                    std::int64_t panel) {
    HWY_DYNAMIC_DISPATCH(multiply_block_f64)(a, block, b, sums, panel);
}
}  // namespace gnnbench::cpu
#endif
