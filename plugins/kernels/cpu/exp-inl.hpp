// Included once per instruction set (Highway's way): no #pragma once.
#if defined(GNNBENCH_CPU_EXP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_EXP_INL
#undef GNNBENCH_CPU_EXP_INL
#else
#define GNNBENCH_CPU_EXP_INL
#endif

#include <cmath>
#include <type_traits>

#include "simd-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {

/// exp(x), NaN for NaN. In float64 by the C library, which is right for every x.
template <class T>
HWY_INLINE Vec<T> exponential(Vec<T> x) {
    const Tag<T> d;
    if constexpr (std::is_same_v<T, float>) {
        return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));  // Highway's Exp turns NaN into 0
    } else {
        alignas(64) T values[lanes<T>];
        hn::Store(x, d, values);
        for (T& v : values) v = std::exp(v);
        return hn::Load(d, values);
    }
}

/// log(1 + x), NaN for NaN.
template <class T>
HWY_INLINE Vec<T> log_of_one_plus(Vec<T> x) {
    const Tag<T> d;
    if constexpr (std::is_same_v<T, float>) {
        return hn::IfThenElse(hn::IsNaN(x), x, hn::Log1p(d, x));
    } else {
        alignas(64) T values[lanes<T>];
        hn::Store(x, d, values);
        for (T& v : values) v = std::log1p(v);
        return hn::Load(d, values);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
