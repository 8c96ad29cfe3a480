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

/// exp(x) of x ≤ 88, NaN for NaN. In float64 by the C library, which is right for every x. In float32 0 for x < −126 log 2,
/// where exp(x) is denormal, and else: x = n log 2 + r; e^r by the polynomial of degree 6 whose largest
/// relative error is least (2e-9); times 2ⁿ. With rounding at most 1.05 units in the last place. Highway's Exp
/// takes twice the instructions and is wrong far outside its range: exp(178.5) is negative there.
template <class T>
HWY_INLINE Vec<T> exponential(Vec<T> x) {
    const Tag<T> d;
    if constexpr (!std::is_same_v<T, float>) {
        alignas(64) T values[lanes<T>];
        hn::Store(x, d, values);
        for (T& v : values) v = std::exp(v);
        return hn::Load(d, values);
    } else {
        const hn::RebindToSigned<Tag<float>> integers;
        const Vec<float> magic = hn::Set(d, 0x1.8p23f + 127);  // adding it rounds to integers; the exponent's bias
        const Vec<float> shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic), n = hn::Sub(shifted, magic);
        Vec<float> r =
            hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), x);  // log 2, its first bits, then the others
        r = hn::NegMulAdd(n, hn::Set(d, 1.42860682e-6f), r);
        Vec<float> p = hn::Set(d, 0x1.6ae5eep-10f);
        for (const float c : {0x1.1268dcp-7f, 0x1.555828p-5f, 0x1.555416p-3f, 0x1.fffffcp-2f, 1.0f, 1.0f})
            p = hn::MulAdd(p, r, hn::Set(d, c));
        const Vec<float> power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(integers, shifted)));  // 2ⁿ
        // Below −126 log 2 n has no place in the exponent. NaN is not below, and p is NaN then.
        return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33654f)), hn::Mul(p, power));
    }
}

/// log(x) of x > 0, within four units in the last place in float32.
template <class T>
HWY_INLINE Vec<T> logarithm(Vec<T> x) {
    const Tag<T> d;
    if constexpr (std::is_same_v<T, float>) {
        return hn::Log(d, x);
    } else {
        alignas(64) T values[lanes<T>];
        hn::Store(x, d, values);
        for (T& v : values) v = std::log(v);
        return hn::Load(d, values);
    }
}

/// σ(x) = 1 / (1 + exp(−x)), by e = exp(−|x|), which does not overflow: 1 / (1 + e) for x > 0, else e / (1 + e).
template <class T>
HWY_INLINE Vec<T> sigmoid(Vec<T> x) {
    const Tag<T> d;
    const Vec<T> one = hn::Set(d, T{1}), e = exponential<T>(hn::Neg(hn::Abs(x)));
    return hn::Div(hn::IfThenElse(hn::Gt(x, hn::Zero(d)), one, e), hn::Add(one, e));
}

/// exp(x) − 1 of x ≤ 0, NaN for NaN. In float32 by Highway: at most 2.5·2⁻²⁴ off, relative (of all numbers from −104 on).
template <class T>
HWY_INLINE Vec<T> exponential_minus_one(Vec<T> x) {
    const Tag<T> d;
    if constexpr (std::is_same_v<T, float>) {
        return hn::Expm1(d, x);
    } else {
        alignas(64) T values[lanes<T>];
        hn::Store(x, d, values);
        for (T& v : values) v = std::expm1(v);
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
