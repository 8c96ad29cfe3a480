// Included once per instruction set (Highway's way): no #pragma once.
//
// Attention's arithmetic of entries where the number H of heads is a power of two and fits a vector: what an entry has for
// each head then repeats along its row with every H lanes, and a vector holds the heads of lanes ÷ H entries.
//
// A weight p > 0 is kept with the sign of its score's argument: p for λ' = 1, −p for λ' = slope. Both of what sums need follow
// from it: p = |x|, and p λ' = max(x, −slope · x).
#if defined(GNNBENCH_CPU_ENTRIES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_ENTRIES_INL
#undef GNNBENCH_CPU_ENTRIES_INL
#else
#define GNNBENCH_CPU_ENTRIES_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "attention.hpp"
#include "exp-inl.hpp"
#include "simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {

/// Entries whose weights are made before their rows are added, at most.
inline constexpr std::int64_t entries_at_once = 64;

/// H numbers, again and again.
template <int H, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> repeated(D d, const T* from) {
    if constexpr (hn::MaxLanes(d) == H) {
        return hn::LoadU(d, from);
    } else if constexpr (H == 1) {
        return hn::Set(d, *from);
    } else if constexpr (H * sizeof(T) == 8) {
        const hn::Repartition<double, D> pairs;
        double pair;
        std::memcpy(&pair, from, sizeof pair);
        return hn::BitCast(d, hn::Set(pairs, pair));
    } else if constexpr (H * sizeof(T) == 16) {
        return hn::LoadDup128(d, from);
    } else {
#if HWY_TARGET != HWY_SCALAR
        const hn::Half<D> half;
        const auto lower = repeated<H>(half, from);
        return hn::Combine(d, lower, lower);
#endif
    }
}

/// The H numbers at(e), at(e + 1), … of as many entries as fill a vector.
template <int H, class D, class At>
HWY_INLINE hn::Vec<D> side_by_side(D d, At&& at, std::int64_t e) {
    if constexpr (hn::MaxLanes(d) == H) {
        return hn::LoadU(d, at(e));
    } else {
#if HWY_TARGET != HWY_SCALAR  // whose vectors are one number
        const hn::Half<D> half;
        constexpr auto more = static_cast<std::int64_t>(hn::MaxLanes(half)) / H;
        return hn::Combine(d, side_by_side<H>(half, at, e + more), side_by_side<H>(half, at, e));
#endif
    }
}

/// Entries of a vector.
template <class T, int H>
inline constexpr std::int64_t per_vector = lanes<T> / H;

/// The values of as many entries as fill a vector, each for H lanes.
template <int H, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> spread_all(D d, const T* values) {
    if constexpr (hn::MaxLanes(d) == H) {
        return hn::Set(d, *values);
    } else {
#if HWY_TARGET != HWY_SCALAR
        const hn::Half<D> half;
        constexpr auto more = static_cast<std::int64_t>(hn::MaxLanes(half)) / H;
        return hn::Combine(d, spread_all<H>(half, values + more), spread_all<H>(half, values));
#endif
    }
}
/// The values of n ≤ lanes ÷ H entries, each for H lanes; 0 for those beyond.
template <class T, int H>
HWY_INLINE Vec<T> spread(const T* values, std::int64_t n) {
    const Tag<T> d;
    if constexpr (H == lanes<T>) {
        return hn::Set(d, *values);
    } else if constexpr (H == 1) {
        return load_n(values, n);
    } else {
        using Index = hn::RebindToSigned<Tag<T>>;
        alignas(64) static constexpr auto places = [] {
            std::array<hn::TFromD<Index>, usize(lanes<T>)> all{};
            for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<hn::TFromD<Index>>(i / H);
            return all;
        }();
        const Vec<T> some = hn::MaskedLoad(hn::FirstN(d, usize(n)), d, values);
        return hn::TableLookupLanes(some, hn::SetTableIndices(d, places.data()));
    }
}

/// out [H] ← f over the lanes of each head.
template <int H, class T, class F>
HWY_INLINE void fold(Vec<T> v, T* out, F&& f) {
    alignas(64) T all[lanes<T>];
    hn::Store(v, Tag<T>(), all);
    for (int k = 0; k < H; ++k) {
        out[k] = all[k];
        for (std::int64_t at = k + H; at < lanes<T>; at += H) out[k] = f(out[k], all[at]);
    }
}
template <int H, class T>
HWY_INLINE void fold_sum(Vec<T> v, T* out) {
    fold<H, T>(v, out, [](T a, T b) { return a + b; });
}

/// p and p λ' of a weight with its sign.
template <class T>
HWY_INLINE Vec<T> weight_of(Vec<T> x) {
    return hn::Abs(x);
}
template <class T>
HWY_INLINE Vec<T> sloped_of(Vec<T> x, Vec<T> minus_slope) {
    return hn::Max(x, hn::Mul(x, minus_slope));
}
/// p with the sign of its score's argument.
template <class T>
HWY_INLINE Vec<T> with_sign(Vec<T> p, hn::Mask<Tag<T>> positive) {
    return hn::IfThenElse(positive, p, hn::Neg(p));
}

/// weights [count × H, and a vector's lanes beyond] ← value_e · of(e, place), a vector of entries at a time; place(e) turns an
/// entry's number into one below count. take(e, place, weights) is called for each vector; those of entries beyond are ±0 there.
template <int H, class T, class Of, class Take>
HWY_INLINE void weigh(const T* values, std::int64_t count, T* HWY_RESTRICT weights, Of&& of, Take&& take) {
    const Tag<T> d;
    constexpr std::int64_t step = per_vector<T, H>;
    std::int64_t e = 0;
    const auto itself = [](std::int64_t at) HWY_ATTR { return at; };
    for (; e + step <= count; e += step) {
        const Vec<T> value = step <= 2 ? spread_all<H>(d, values + e) : spread<T, H>(values + e, step);
        const Vec<T> x = hn::Mul(of(e, itself), value);
        take(e, itself, x);
        hn::StoreU(x, d, weights + e * H);
    }
    if (e == count) return;
    const auto at_most_last = [last = count - 1](std::int64_t at) HWY_ATTR { return std::min(at, last); };
    const Vec<T> x = hn::Mul(of(e, at_most_last), spread<T, H>(values + e, count - e));
    take(e, at_most_last, x);
    hn::StoreU(x, d, weights + e * H);
}

/// Rows by pointers.
template <class T>
struct ListedRows {
    const T* const* rows;
    std::int64_t column;
    HWY_INLINE const T* operator()(std::int64_t e) const { return rows[e] + column; }
};

/// What is done with sums before: nothing, since they are none; or they are multiplied by H numbers, if there are.
template <class T>
struct Before {
    bool none = true;
    const T* scale = nullptr;
};

/// NV vectors of columns: z ← scale · z + Σ_e p_e row_e, and if Two likewise p ← … p_e λ'_e row_e. `last` lanes in the last.
template <int H, int NV, bool Two, class T, class Rows>
HWY_INLINE void add_entries(const Rows& rows, const T* weights, std::int64_t count, T slope, Before<T> before,
                            std::int64_t last, T* z, T* p) {
    const Tag<T> d;
    const Vec<T> minus_slope = hn::Set(d, -slope);
    const auto mask = hn::FirstN(d, usize(last));
    Vec<T> of_z[NV], of_p[Two ? NV : 1];
    const auto load = [&](const T* from, int k) HWY_ATTR {
        return k + 1 < NV ? hn::LoadU(d, from + k * lanes<T>) : hn::MaskedLoad(mask, d, from + k * lanes<T>);
    };
    const auto store = [&](Vec<T> v, T* to, int k)
                           HWY_ATTR { store_n(v, to + k * lanes<T>, k + 1 < NV ? lanes<T> : last); };
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) {
        of_z[k] = before.none ? hn::Zero(d) : load(z, k);
        if constexpr (Two) of_p[k] = before.none ? hn::Zero(d) : load(p, k);
    }
    if (before.scale) {
        const Vec<T> scale = repeated<H>(d, before.scale);
#pragma GCC unroll 8
        for (int k = 0; k < NV; ++k) {
            of_z[k] = hn::Mul(of_z[k], scale);
            if constexpr (Two) of_p[k] = hn::Mul(of_p[k], scale);
        }
    }
#pragma GCC unroll 1
    for (std::int64_t e = 0; e < count; ++e) {
        const T* row = rows(e);
        const Vec<T> x = repeated<H>(d, weights + e * H), weight = weight_of<T>(x);
        const Vec<T> sloped = Two ? sloped_of<T>(x, minus_slope) : x;
#pragma GCC unroll 8
        for (int k = 0; k < NV; ++k) {
            const Vec<T> of_row = load(row, k);
            of_z[k] = hn::MulAdd(weight, of_row, of_z[k]);
            if constexpr (Two) of_p[k] = hn::MulAdd(sloped, of_row, of_p[k]);
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) {
        store(of_z[k], z, k);
        if constexpr (Two) store(of_p[k], p, k);
    }
}

/// Vectors that two sums take of the registers at most, beside weights and a row.
template <class T>
inline constexpr int most_of_two = HWY_TARGET == HWY_AVX3 && sizeof(T) == 4 ? 8 : 4;

template <class T>
using AddListed = void (*)(const ListedRows<T>&, const T*, std::int64_t, T, Before<T>, std::int64_t, T*, T*);
/// add_entries by the number of vectors, less one.
template <int H, bool Two, class T, int... Fewer>
constexpr std::array<AddListed<T>, sizeof...(Fewer)> listed_by_vectors(std::integer_sequence<int, Fewer...>) {
    return {&add_entries<H, Fewer + 1, Two, T, ListedRows<T>>...};
}

/// The same for `width` columns of listed rows.
template <int H, bool Two, class T>
HWY_INLINE void add_listed(const T* const* rows, const T* weights, std::int64_t count, T slope, Before<T> before,
                           std::int64_t width, T* z, T* p) {
    static constexpr auto add = listed_by_vectors<H, Two, T>(std::make_integer_sequence<int, most_of_two<T>>());
    constexpr std::int64_t most = most_of_two<T> * lanes<T>;
    for (std::int64_t c = 0; c < width; c += most) {
        const std::int64_t cols = std::min(most, width - c), vectors = (cols + lanes<T> - 1) / lanes<T>;
        add[vectors - 1]({rows, c}, weights, count, slope, before, cols - (vectors - 1) * lanes<T>, z + c,
                         Two ? p + c : nullptr);
    }
}

/// Calls f(integral constant H) where `heads` is one of the numbers served here.
template <class T, class F>
bool with_heads(std::int64_t heads, F&& f) {
    const auto serves = [&](auto h) {
        if constexpr (decltype(h)::value <= lanes<T>) {
            if (heads != decltype(h)::value) return false;
            f(h);
            return true;
        } else {
            return false;
        }
    };
    return serves(std::integral_constant<int, 1>()) || serves(std::integral_constant<int, 2>()) ||
           serves(std::integral_constant<int, 4>()) || serves(std::integral_constant<int, 8>()) ||
           serves(std::integral_constant<int, 16>());
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
