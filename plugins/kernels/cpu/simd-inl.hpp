// Included once per instruction set (Highway's way): no #pragma once.
#if defined(GNNBENCH_CPU_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_SIMD_INL
#undef GNNBENCH_CPU_SIMD_INL
#else
#define GNNBENCH_CPU_SIMD_INL
#endif

#include <algorithm>
#include <cstdint>

#include <hwy/highway.h>

#include <gnnbench/model.hpp>
#include <gnnbench/usize.hpp>

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// T is float or double.
template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vec = hn::Vec<Tag<T>>;
using U = hn::ScalableTag<std::uint32_t>;
using VU = hn::Vec<U>;
/// Lanes of a vector, at compile time: no set used here has vectors of unknown length.
template <class T>
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(HWY_LANES(T));

/// Calls f(column, count) for each vector of `cols` columns; count < lanes for the last one only.
template <class T, class G>
HWY_INLINE void for_vectors(std::int64_t cols, G&& f) {
    std::int64_t c = 0;
    for (; c + lanes<T> <= cols; c += lanes<T>) f(c, lanes<T>);
    if (c < cols) f(c, cols - c);
}

template <class T>
HWY_INLINE Vec<T> load_n(const T* p, std::int64_t n) {
    const Tag<T> d;
    return n == lanes<T> ? hn::LoadU(d, p) : hn::MaskedLoad(hn::FirstN(d, usize(n)), d, p);
}

template <class T>
HWY_INLINE void store_n(Vec<T> v, T* p, std::int64_t n) {
    const Tag<T> d;
    if (n == lanes<T>) {
        hn::StoreU(v, d, p);
    } else {
        hn::BlendedStore(v, hn::FirstN(d, usize(n)), d, p);
    }
}

/// The cache lines of elements [0, count) from `row` on, `Level` being the cache they shall come to; the row need not
/// begin with a line.
template <int Level, class T>
HWY_INLINE void prefetch_row(const T* row, std::int64_t count) {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
#pragma GCC unroll 16
    for (std::int64_t c = 0; c < count; c += line) __builtin_prefetch(row + c, 0, Level == 1 ? 3 : 2);
    __builtin_prefetch(row + std::max<std::int64_t>(count, 1) - 1, 0, Level == 1 ? 3 : 2);
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
