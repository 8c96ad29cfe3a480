#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <gnnbench/matrix.hpp>

namespace gnnbench {

/// What rounding may do to numbers of one type. Higham, Accuracy and Stability of Numerical Algorithms (2002), 2.2.
struct Rounding {
    double unit;      ///< unit roundoff u, as bounds use it
    double smallest;  ///< smallest normal number: what underflow may lose in one operation
    double largest;   ///< beyond it a result overflows

    /// γ_k = ku / (1 − ku) bounds the relative error of k roundings, so of a sum of k products in any order of
    /// summation (lemma 3.1, section 3.1). At most 1: beyond k = 1/(2u) the bound says nothing.
    double gamma(double k) const {
        const double ku = k * unit;
        return ku < 0.5 ? ku / (1 - ku) : 1.0;
    }
};

/// In float64 the check itself errs as much as what it checks, so u counts twice.
inline Rounding rounding_of(DType t) {
    if (t == DType::f32) return {0x1p-24, 0x1p-126, 0x1.fffffep127};
    return {0x1p-52, 0x1p-1022, 0x1.fffffffffffffp1023};
}

/// Relative error, in u, that exp, log and sigmoid of a back end's mathematics library may have.
inline constexpr double function_error = 16;

}  // namespace gnnbench
