// Sparse × dense by rows: a row of C stays in registers while the rows of B that make it up stream by.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/spmm_rows_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <utility>

#include <gnnbench/usize.hpp>

#include "simd-inl.hpp"
#include "spmm.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Accumulators that fit the register file beside a value and an operand or two. In float64, which verifies and is not
/// timed, fewer, without prefetch: less to compile.
template <class T>
constexpr int most_vectors = sizeof(T) == 8           ? 4
                             : HWY_TARGET == HWY_AVX3 ? 16
                                                      : 8;
template <class T>
constexpr bool prefetches = sizeof(T) == 4;

/// Columns [first, first + NV vectors) of the result, `last` lanes in the last of them.
struct ColumnBlock {
    std::int64_t first, last;
};

template <bool Tail, class T>
HWY_INLINE Vec<T> load_last(const T* p, hn::Mask<Tag<T>> mask) {
    if constexpr (Tail) return hn::MaskedLoad(mask, Tag<T>(), p);
    return hn::LoadU(Tag<T>(), p);
}

template <class T, int NV, bool Tail, bool Prefetch>
void multiply_block(const FlatCsr<T>& a, const DenseSide<T>& d, RowRange rows, const RowsPass<T>& pass,
                    ColumnBlock block) {
    constexpr std::int64_t width = lanes<T>;
    // With few accumulators, several nonzeros are processed together to hide the latency of multiply-add.
    constexpr int unroll = NV == 1 ? 4 : NV <= 3 ? 2 : 1;
    const Tag<T> tag;
    const auto mask = hn::FirstN(tag, usize(block.last));
    const T* b = static_cast<const T*>(d.b.data) + block.first;
    const std::int64_t ldb = d.b.ld, total = a.indptr[a.rows];
    const Vec<T> alpha = hn::Set(tag, d.alpha), beta = hn::Set(tag, d.beta);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        Vec<T> sum[unroll][NV];
#pragma GCC unroll 16
        for (int u = 0; u < unroll; ++u)
#pragma GCC unroll 16
            for (int k = 0; k < NV; ++k) sum[u][k] = hn::Zero(tag);
        std::int64_t j = a.indptr[r];
        const std::int64_t end = a.indptr[r + 1];
        const auto add = [&](Vec<T>* HWY_RESTRICT to, std::int64_t at) HWY_ATTR {
            if constexpr (Prefetch) {
                const auto row_after = [&](std::int64_t by)
                                           HWY_ATTR { return b + a.indices[std::min(at + by, total - 1)] * ldb; };
                prefetch_row<2>(row_after(pass.ahead.second), NV * width);
                prefetch_row<1>(row_after(pass.ahead.first), NV * width);
            }
            const T* row = b + a.indices[at] * ldb;
            const Vec<T> value = hn::Set(tag, a.values[at]);
#pragma GCC unroll 16
            for (int k = 0; k + 1 < NV; ++k) to[k] = hn::MulAdd(value, hn::LoadU(tag, row + k * width), to[k]);
            to[NV - 1] = hn::MulAdd(value, load_last<Tail>(row + (NV - 1) * width, mask), to[NV - 1]);
        };
        for (; j + unroll <= end; j += unroll) {
#pragma GCC unroll 16
            for (int u = 0; u < unroll; ++u) add(sum[u], j + u);
        }
        for (; j < end; ++j) add(sum[0], j);
        T* out = pass.out + (pass.row_at ? pass.row_at[r] : r - rows.begin) * pass.ldo + block.first;
#pragma GCC unroll 16
        for (int k = 0; k < NV; ++k) {
            Vec<T> v = sum[0][k];
#pragma GCC unroll 16
            for (int u = 1; u < unroll; ++u) v = hn::Add(v, sum[u][k]);
            v = hn::Mul(v, alpha);
            const std::int64_t n = Tail && k == NV - 1 ? block.last : width;
            if (pass.past_caches) {
                hn::Stream(v, tag, out + k * width);
                continue;
            }
            if (d.beta != 0) v = hn::MulAdd(beta, load_n(out + k * width, n), v);
            store_n(v, out + k * width, n);
        }
    }
}

template <class T>
using BlockFunction = void (*)(const FlatCsr<T>&, const DenseSide<T>&, RowRange, const RowsPass<T>&, ColumnBlock);

/// By vectors − 1, ragged last vector, prefetch.
template <class T>
using BlockTable = std::array<std::array<std::array<BlockFunction<T>, 2>, 2>, most_vectors<T>>;

template <class T, std::size_t... I>
constexpr BlockTable<T> make_table(std::index_sequence<I...>) {
    constexpr bool p = prefetches<T>;
    return {{{{{{&multiply_block<T, I + 1, false, false>, &multiply_block<T, I + 1, false, p>}},
               {{&multiply_block<T, I + 1, true, false>, &multiply_block<T, I + 1, true, p>}}}}...}};
}

template <class T>
void multiply(const FlatCsr<T>& a, const DenseSide<T>& d, RowRange rows, const RowsPass<T>& pass) {
    constexpr std::int64_t width = lanes<T>, most = most_vectors<T>;
    static constexpr BlockTable<T> table = make_table<T>(std::make_index_sequence<most_vectors<T>>());
    const std::int64_t vectors = (d.c.cols + width - 1) / width;
    const std::int64_t blocks = (vectors + most - 1) / most;
    // Row by row where a row takes several blocks, so that a row of B is read in one go.
    const std::int64_t step = blocks > 1 ? 1 : rows.end - rows.begin;
    for (std::int64_t r = rows.begin; r < rows.end; r += step)
        for (std::int64_t i = 0; i < blocks; ++i) {
            const std::int64_t begin = vectors * i / blocks, end = vectors * (i + 1) / blocks;
            const std::int64_t last = std::min(width, d.c.cols - (end - 1) * width);
            RowsPass<T> here = pass;
            if (!pass.row_at) here.out += (r - rows.begin) * pass.ldo;
            table[usize(end - begin - 1)][last < width][pass.ahead.second > 0](a, d, {r, r + step}, here,
                                                                               {begin * width, last});
        }
}

void multiply_rows_f32(const FlatCsr<float>& a, const DenseSide<float>& d, RowRange rows,
                       const RowsPass<float>& pass) {
    multiply(a, d, rows, pass);
}
void multiply_rows_f64(const FlatCsr<double>& a, const DenseSide<double>& d, RowRange rows,
                       const RowsPass<double>& pass) {
    multiply(a, d, rows, pass);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(multiply_rows_f32);
HWY_EXPORT(multiply_rows_f64);

template <>
void multiply_rows(const FlatCsr<float>& a, const DenseSide<float>& d, RowRange rows,
                   const RowsPass<float>& pass) {
    HWY_DYNAMIC_DISPATCH(multiply_rows_f32)(a, d, rows, pass);
}
template <>
void multiply_rows(const FlatCsr<double>& a, const DenseSide<double>& d, RowRange rows,
                   const RowsPass<double>& pass) {
    HWY_DYNAMIC_DISPATCH(multiply_rows_f64)(a, d, rows, pass);
}
}  // namespace gnnbench::cpu
#endif
