// Sparse × dense by rows: a row of C stays in registers while the rows of B that make it up stream by.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/spmm_rows_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <utility>

#include "simd-inl.hpp"
#include "spmm.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Accumulators that fit the register file beside a value and an operand or two.
constexpr int most_vectors = HWY_TARGET == HWY_AVX3 ? 16 : 8;

/// Columns [first, first + NV vectors) of the result, `last` lanes in the last of them.
struct ColumnBlock {
    std::int64_t first = 0, last = lanes;
};

template <bool Tail>
HWY_INLINE VF load_last(const float* p, hn::Mask<F> mask) {
    if constexpr (Tail) return hn::MaskedLoad(mask, F(), p);
    return hn::LoadU(F(), p);
}

template <int NV, bool Tail, bool Prefetch>
void multiply_block(const FlatCsr& a, const DenseSide& d, RowRange rows, const RowsPass& pass, ColumnBlock block) {
    // With few accumulators, several nonzeros are processed together to hide the latency of multiply-add.
    constexpr int unroll = NV == 1 ? 4 : NV <= 3 ? 2 : 1;
    constexpr std::int64_t line = 64 / sizeof(float);
    const F tag;
    const auto mask = hn::FirstN(tag, static_cast<std::size_t>(block.last));
    const float* b = static_cast<const float*>(d.b.data) + block.first;
    const std::int64_t ldb = d.b.ld, total = a.indptr[a.rows];
    const VF alpha = hn::Set(tag, d.alpha), beta = hn::Set(tag, d.beta);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        VF sum[unroll][NV];
#pragma GCC unroll 16
        for (int u = 0; u < unroll; ++u)
#pragma GCC unroll 16
            for (int k = 0; k < NV; ++k) sum[u][k] = hn::Zero(tag);
        std::int64_t j = a.indptr[r];
        const std::int64_t end = a.indptr[r + 1];
        const auto add = [&](VF* HWY_RESTRICT to, std::int64_t at) HWY_ATTR {
            if constexpr (Prefetch) {
                const std::int64_t ahead = std::min(at + pass.prefetch_ahead, total - 1);
                const float* next = b + a.indices[ahead] * ldb;
#pragma GCC unroll 16
                for (std::int64_t c = 0; c < NV * lanes; c += line) __builtin_prefetch(next + c, 0, 3);
                if (NV * lanes >= line || Tail) __builtin_prefetch(next + NV * lanes - 1, 0, 3);
            }
            const float* row = b + a.indices[at] * ldb;
            const VF value = hn::Set(tag, a.values[at]);
#pragma GCC unroll 16
            for (int k = 0; k + 1 < NV; ++k) to[k] = hn::MulAdd(value, hn::LoadU(tag, row + k * lanes), to[k]);
            to[NV - 1] = hn::MulAdd(value, load_last<Tail>(row + (NV - 1) * lanes, mask), to[NV - 1]);
        };
        for (; j + unroll <= end; j += unroll) {
#pragma GCC unroll 16
            for (int u = 0; u < unroll; ++u) add(sum[u], j + u);
        }
        for (; j < end; ++j) add(sum[0], j);
        float* out = pass.out + (r - rows.begin) * pass.ldo + block.first;
#pragma GCC unroll 16
        for (int k = 0; k < NV; ++k) {
            VF v = sum[0][k];
#pragma GCC unroll 16
            for (int u = 1; u < unroll; ++u) v = hn::Add(v, sum[u][k]);
            v = hn::Mul(v, alpha);
            const std::int64_t n = Tail && k == NV - 1 ? block.last : lanes;
            if (pass.past_caches) {
                hn::Stream(v, tag, out + k * lanes);
                continue;
            }
            if (d.beta != 0) v = hn::MulAdd(beta, load_n(out + k * lanes, n), v);
            store_n(v, out + k * lanes, n);
        }
    }
}

using BlockFunction = void (*)(const FlatCsr&, const DenseSide&, RowRange, const RowsPass&, ColumnBlock);

/// By vectors − 1, ragged last vector, prefetch.
using BlockTable = std::array<std::array<std::array<BlockFunction, 2>, 2>, most_vectors>;

template <std::size_t... I>
constexpr BlockTable make_table(std::index_sequence<I...>) {
    return {{{{{{&multiply_block<I + 1, false, false>, &multiply_block<I + 1, false, true>}},
               {{&multiply_block<I + 1, true, false>, &multiply_block<I + 1, true, true>}}}}...}};
}

void multiply_rows_(const FlatCsr& a, const DenseSide& d, RowRange rows, const RowsPass& pass) {
    static constexpr BlockTable table = make_table(std::make_index_sequence<most_vectors>());
    const std::int64_t vectors = (d.c.cols + lanes - 1) / lanes;
    const std::int64_t blocks = (vectors + most_vectors - 1) / most_vectors;
    // Row by row where a row takes several blocks, so that a row of B is read in one go.
    const std::int64_t step = blocks > 1 ? 1 : rows.end - rows.begin;
    for (std::int64_t r = rows.begin; r < rows.end; r += step)
        for (std::int64_t i = 0; i < blocks; ++i) {
            const std::int64_t begin = vectors * i / blocks, end = vectors * (i + 1) / blocks;
            const std::int64_t last = std::min(lanes, d.c.cols - (end - 1) * lanes);
            RowsPass here = pass;
            here.out += (r - rows.begin) * pass.ldo;
            table[static_cast<std::size_t>(end - begin - 1)][last < lanes][pass.prefetch_ahead > 0](
                a, d, {r, r + step}, here, {begin * lanes, last});
        }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(multiply_rows_);

void multiply_rows(const FlatCsr& a, const DenseSide& d, RowRange rows, const RowsPass& pass) {
    HWY_DYNAMIC_DISPATCH(multiply_rows_)(a, d, rows, pass);
}
}  // namespace gnnbench::cpu
#endif
