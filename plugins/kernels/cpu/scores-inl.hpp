// Included once per instruction set (Highway's way): no #pragma once.
//
// Dynamic attention's scores, and the gradients of what they are of, by blocks of columns that registers take.
#if defined(GNNBENCH_CPU_SCORES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_SCORES_INL
#undef GNNBENCH_CPU_SCORES_INL
#else
#define GNNBENCH_CPU_SCORES_INL
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <gnnbench/usize.hpp>

#include "attention-inl.hpp"
#include "entries-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {

/// λ(x) for slopes from 0 to 1.
template <class T>
HWY_INLINE Vec<T> leaky_of(Vec<T> x, Vec<T> slope) {
    return hn::Max(x, hn::Mul(x, slope));
}

/// out [H] ← sums over the lanes of each head.
template <int H, class D, class T = hn::TFromD<D>>
HWY_INLINE void store_folded(D d, hn::Vec<D> v, T* out) {
    if constexpr (hn::MaxLanes(d) == H) {
        hn::StoreU(v, d, out);
    } else {
#if HWY_TARGET != HWY_SCALAR
        const hn::Half<D> half;
        store_folded<H>(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), out);
#endif
    }
}

/// What makes scores e = ⟨a, λ(mine + x)⟩ of entries, x being `offset` numbers into their rows, and beside them ⟨other, row⟩.
template <class T>
struct ScoredEntries {
    const T* const* rows;
    std::int64_t count, offset;
    const T *vector, *mine, *other;
    T slope;
    T *scores, *dots;          ///< [count × H]
    T *score_sums, *dot_sums;  ///< [count × lanes], where rows take several blocks of columns
};

/// Its part of NV vectors of columns from `column` on, `last` lanes in the last.
template <int H, int NV, bool Dots, class T>
void score_block(const ScoredEntries<T>& s, std::int64_t column, std::int64_t last, bool first_block,
                 bool last_block) {
    const Tag<T> d;
    const auto mask = hn::FirstN(d, usize(last));
    const Vec<T> slope = hn::Set(d, s.slope);
    const auto load = [&](const T* from, int k) HWY_ATTR {
        return k + 1 < NV ? hn::LoadU(d, from + k * lanes<T>) : hn::MaskedLoad(mask, d, from + k * lanes<T>);
    };
    Vec<T> vector[NV], mine[NV], other[Dots ? NV : 1];
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) {
        vector[k] = load(s.vector + column, k);
        mine[k] = load(s.mine + column, k);
        if constexpr (Dots) other[k] = load(s.other + column, k);
    }
#pragma GCC unroll 1
    for (std::int64_t e = 0; e < s.count; ++e) {
        const T* const row = s.rows[e] + column;
        Vec<T> score = first_block ? hn::Zero(d) : hn::LoadU(d, s.score_sums + e * lanes<T>), dot = hn::Zero(d);
        if constexpr (Dots)
            if (!first_block) dot = hn::LoadU(d, s.dot_sums + e * lanes<T>);
#pragma GCC unroll 8
        for (int k = 0; k < NV; ++k) {
            const Vec<T> x = hn::Add(mine[k], load(row + s.offset, k));
            score = hn::MulAdd(vector[k], leaky_of<T>(x, slope), score);
            if constexpr (Dots) dot = hn::MulAdd(other[k], load(row, k), dot);
        }
        if (last_block) {
            store_folded<H>(d, score, s.scores + e * H);
            if constexpr (Dots) store_folded<H>(d, dot, s.dots + e * H);
        } else {
            hn::StoreU(score, d, s.score_sums + e * lanes<T>);
            if constexpr (Dots) hn::StoreU(dot, d, s.dot_sums + e * lanes<T>);
        }
    }
}

/// Calls f(integral constant NV, first column, lanes in the last vector) for blocks of columns.
template <class T, class F>
HWY_INLINE void for_blocks(std::int64_t width, F&& f) {
    constexpr std::int64_t most = most_of_two<T> * lanes<T>;
    for (std::int64_t c = 0; c < width; c += most) {
        const std::int64_t cols = std::min(most, width - c), vectors = (cols + lanes<T> - 1) / lanes<T>,
                           last = cols - (vectors - 1) * lanes<T>;
        const auto is = [&](auto n) {
            if constexpr (decltype(n)::value <= most_of_two<T>)
                if (vectors == decltype(n)::value) f(n, c, last);
        };
        is(std::integral_constant<int, 1>());
        is(std::integral_constant<int, 2>());
        is(std::integral_constant<int, 3>());
        is(std::integral_constant<int, 4>());
        is(std::integral_constant<int, 5>());
        is(std::integral_constant<int, 6>());
        is(std::integral_constant<int, 7>());
        is(std::integral_constant<int, 8>());
    }
}

template <int H, bool Dots, class T>
HWY_INLINE void score(const ScoredEntries<T>& s, std::int64_t width) {
    for_blocks<T>(width, [&](auto n, std::int64_t c, std::int64_t last) {
        constexpr int NV = decltype(n)::value;
        score_block<H, NV, Dots>(s, c, last, c == 0, c + NV * lanes<T> >= width);
    });
}

/// u ← u + Σ_e de λ'(mine + x): slope · Σ de + (1 − slope) · Σ of those de whose argument is positive.
template <int H, int NV, class T>
void add_slopes(const ScoredEntries<T>& s, const T* de, std::int64_t column, std::int64_t last, T* u) {
    const Tag<T> d;
    const auto mask = hn::FirstN(d, usize(last));
    const auto load = [&](const T* from, int k) HWY_ATTR {
        return k + 1 < NV ? hn::LoadU(d, from + k * lanes<T>) : hn::MaskedLoad(mask, d, from + k * lanes<T>);
    };
    Vec<T> minus_mine[NV], positive[NV], all = hn::Zero(d);
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) {
        minus_mine[k] = hn::Neg(load(s.mine + column, k));
        positive[k] = hn::Zero(d);
    }
#pragma GCC unroll 1
    for (std::int64_t e = 0; e < s.count; ++e) {
        const T* const row = s.rows[e] + column + s.offset;
        const Vec<T> of_entry = repeated<H>(d, de + e * H);
        all = hn::Add(all, of_entry);
#pragma GCC unroll 8
        for (int k = 0; k < NV; ++k)
            positive[k] = hn::Add(positive[k], hn::IfThenElseZero(hn::Gt(load(row, k), minus_mine[k]), of_entry));
    }
    const Vec<T> slope = hn::Set(d, s.slope), rest = hn::Set(d, T{1} - s.slope), base = hn::Mul(slope, all);
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) {
        T* const to = u + column + k * lanes<T>;
        store_n(hn::Add(load_n(to, k + 1 < NV ? lanes<T> : last), hn::MulAdd(rest, positive[k], base)), to,
                k + 1 < NV ? lanes<T> : last);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
