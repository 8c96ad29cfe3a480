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

/// exp(x) of x ≤ 0, NaN for NaN; below −87 in float32 it is that of −87, 1.6e-38. Half the instructions of the one above:
/// x = n log 2 + r; e^r by the polynomial of degree 6 whose largest relative error is least (2e-9); n into the exponent.
/// With rounding at most 1.05 units in the last place.
template <class T>
HWY_INLINE Vec<T> exponential_of_negative(Vec<T> x) {
    if constexpr (!std::is_same_v<T, float>) {
        return exponential<T>(x);
    } else {
        const Tag<float> d;
        const hn::RebindToSigned<Tag<float>> integers;
        const Vec<float> least = hn::Set(d, -87.0f),
                         magic = hn::Set(d, 0x1.8p23f);  // adding it rounds to integers
        const Vec<float> z = hn::IfThenElse(hn::Lt(x, least), least, x);
        const Vec<float> shifted = hn::MulAdd(z, hn::Set(d, 1.44269504f), magic), n = hn::Sub(shifted, magic);
        Vec<float> r =
            hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), z);  // log 2, its first bits, then the others
        r = hn::NegMulAdd(n, hn::Set(d, 1.42860682e-6f), r);
        Vec<float> p = hn::Set(d, 0x1.6ae5eep-10f);
        for (const float c : {0x1.1268dcp-7f, 0x1.555828p-5f, 0x1.555416p-3f, 0x1.fffffcp-2f, 1.0f, 1.0f})
            p = hn::MulAdd(p, r, hn::Set(d, c));
        const auto exponent = hn::ShiftLeft<23>(hn::BitCast(integers, shifted));
        return hn::IfThenElse(hn::IsNaN(x), x, hn::BitCast(d, hn::Add(hn::BitCast(integers, p), exponent)));
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
