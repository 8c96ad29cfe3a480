#pragma once
#include <cmath>

#include "philox.hpp"

namespace gnnbench::cuda {

/// Activation's values as nvcc sees them.
enum class Curve : int { identity = 0, relu = 1, leaky_relu = 2, sigmoid = 3, elu = 4 };

GNNBENCH_HOST_DEVICE float exp_of(float x) { return expf(x); }
GNNBENCH_HOST_DEVICE double exp_of(double x) { return exp(x); }
GNNBENCH_HOST_DEVICE float exp_minus_one(float x) { return expm1f(x); }
GNNBENCH_HOST_DEVICE double exp_minus_one(double x) { return expm1(x); }
GNNBENCH_HOST_DEVICE float log_of_one_plus(float x) { return log1pf(x); }
GNNBENCH_HOST_DEVICE double log_of_one_plus(double x) { return log1p(x); }
GNNBENCH_HOST_DEVICE float log_of(float x) { return logf(x); }
GNNBENCH_HOST_DEVICE double log_of(double x) { return log(x); }
GNNBENCH_HOST_DEVICE float sqrt_of(float x) { return sqrtf(x); }
GNNBENCH_HOST_DEVICE double sqrt_of(double x) { return sqrt(x); }

template <class T>
GNNBENCH_HOST_DEVICE T activated(Curve curve, T x) {
    if (curve == Curve::relu) return x < T(0) ? T(0) : x;  // NaN stays
    if (curve == Curve::leaky_relu) return x > T(0) ? x : T(0.01) * x;
    if (curve == Curve::sigmoid) return T(1) / (T(1) + exp_of(-x));
    if (curve == Curve::elu) return x > T(0) ? x : exp_minus_one(x);
    return x;
}

/// σ'(z) from y = σ(z).
template <class T>
GNNBENCH_HOST_DEVICE T slope(Curve curve, T y) {
    if (curve == Curve::relu) return y > T(0) ? T(1) : T(0);
    if (curve == Curve::leaky_relu) return y > T(0) ? T(1) : T(0.01);
    if (curve == Curve::sigmoid) return y * (T(1) - y);
    if (curve == Curve::elu) return y > T(0) ? T(1) : T(1) + y;
    return T(1);
}

/// Epilogue as the device needs it.
template <class T>
struct Finish {
    const T* bias = nullptr;
    Curve curve = Curve::identity;
    T scale = 1;  ///< 1 / (1 − rate)
    Mask mask{};
    const i64* row_ids = nullptr;

    /// Whether it leaves every value as it is.
    GNNBENCH_HOST_DEVICE bool empty() const { return !bias && curve == Curve::identity && !mask.active; }
    GNNBENCH_HOST_DEVICE T before_dropout(T x, i64 column) const {
        if (bias) x += bias[column];
        return activated(curve, x);
    }
    /// v[i] ← epilogue of v[i], at (row, column + i).
    template <int count>
    GNNBENCH_HOST_DEVICE void apply(Pack<T, count>& v, i64 row, i64 column) const {
        for (int i = 0; i < count; ++i) v.at[i] = before_dropout(v.at[i], column + i);
        if (!mask.active) return;
        RowMask drawn(mask, row_ids[row]);
        for (int i = 0; i < count; ++i)
            v.at[i] = drawn.dropped(static_cast<u32>(column + i)) ? T(0) : v.at[i] * scale;
    }
};

}  // namespace gnnbench::cuda
