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
template <int Steps>
void multiply_panel(const TiledMatrix& a, const TileBlock& block, const float* tile, float* sums) {
    constexpr std::int64_t width = Steps * panel_step;
    constexpr int vectors = static_cast<int>(width / lanes);
    constexpr std::int64_t line = 16, ahead = 3;
    const F d;
    const Segment* segment = a.segments.data() + block.first_segment;
    const Segment* const last = segment + block.segments - 1;
    const std::uint16_t* col = a.local_col.data() + block.first_entry;
    const float* value = a.values.data() + block.first_entry;
    for (; segment <= last; ++segment) {
        const float* next = sums + std::min(segment + ahead, last)->row * width;
#pragma GCC unroll 4
        for (std::int64_t c = 0; c < width; c += line) __builtin_prefetch(next + c, 1, 3);
        float* out = sums + segment->row * width;
        VF sum[vectors];
#pragma GCC unroll 16
        for (int k = 0; k < vectors; ++k) sum[k] = hn::LoadU(d, out + k * lanes);
        const std::uint16_t* const end = col + segment->length;
        if constexpr (vectors <= 2) {
            // Two chains, to hide the latency of multiply-add.
            VF other[vectors];
#pragma GCC unroll 16
            for (int k = 0; k < vectors; ++k) other[k] = hn::Zero(d);
            for (; col + 2 <= end; col += 2, value += 2) {
                const float *row0 = tile + col[0] * width, *row1 = tile + col[1] * width;
                const VF v0 = hn::Set(d, value[0]), v1 = hn::Set(d, value[1]);
#pragma GCC unroll 16
                for (int k = 0; k < vectors; ++k) {
                    sum[k] = hn::MulAdd(v0, hn::LoadU(d, row0 + k * lanes), sum[k]);
                    other[k] = hn::MulAdd(v1, hn::LoadU(d, row1 + k * lanes), other[k]);
                }
            }
#pragma GCC unroll 16
            for (int k = 0; k < vectors; ++k) sum[k] = hn::Add(sum[k], other[k]);
        }
        for (; col < end; ++col, ++value) {
            const float* row = tile + *col * width;
            const VF v = hn::Set(d, *value);
#pragma GCC unroll 16
            for (int k = 0; k < vectors; ++k) sum[k] = hn::MulAdd(v, hn::LoadU(d, row + k * lanes), sum[k]);
        }
#pragma GCC unroll 16
        for (int k = 0; k < vectors; ++k) hn::StoreU(sum[k], d, out + k * lanes);
    }
}

void multiply_block_(const TiledMatrix& a, const TileBlock& block, const float* tile, float* sums,
                     std::int64_t panel) {
    switch (panel / panel_step) {
        case 1:
            return multiply_panel<1>(a, block, tile, sums);
        case 2:
            return multiply_panel<2>(a, block, tile, sums);
        case 3:
            return multiply_panel<3>(a, block, tile, sums);
        default:
            return multiply_panel<4>(a, block, tile, sums);
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(multiply_block_);

void multiply_block(const TiledMatrix& a, const TileBlock& block, const float* tile, float* sums,
                    std::int64_t panel) {
    HWY_DYNAMIC_DISPATCH(multiply_block_)(a, block, tile, sums, panel);
}
}  // namespace gnnbench::cpu
#endif
