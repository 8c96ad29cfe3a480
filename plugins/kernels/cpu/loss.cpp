// Softmax cross entropy, forward and backward in one pass over the logits, and accuracy.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/loss.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "row_operations.hpp"
#include "simd-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// max over the row.
float row_maximum(const float* x, std::int64_t cols) {
    const F d;
    VF best = hn::Set(d, -std::numeric_limits<float>::infinity());
    for_vectors(cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        const auto in = hn::FirstN(d, static_cast<std::size_t>(n));
        best = hn::Max(best, hn::IfThenElse(in, load_n(x + c, n), best));
    });
    return hn::GetLane(hn::MaxOfLanes(d, best));
}

/// p[c] ← exp(x[c] − top); returns their sum. p may be x.
float exponentials(const float* x, float top, std::int64_t cols, float* p) {
    const F d;
    VF sum = hn::Zero(d);
    for_vectors(cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        const VF shifted = hn::Sub(load_n(x + c, n), hn::Set(d, top));
        VF e = hn::Exp(d, shifted);
        e = hn::IfThenElse(hn::IsNaN(shifted), shifted, e);  // Highway's Exp turns NaN into 0
        store_n(e, p + c, n);
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(n)), e));
    });
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

void scale_row(float* p, float factor, std::int64_t cols) {
    const F d;
    for_vectors(cols, [&](std::int64_t c, std::int64_t n)
                          HWY_ATTR { store_n(hn::Mul(load_n(p + c, n), hn::Set(d, factor)), p + c, n); });
}

double softmax_cross_entropy_rows_(ConstMatrixView logits, const LossInput& in, MatrixView grad, RowRange rows) {
    const std::int64_t cols = logits.cols;
    double loss = 0;
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const float* x = static_cast<const float*>(logits.data) + r * logits.ld;
        float* g = static_cast<float*>(grad.data) + r * grad.ld;
        const std::int32_t label = in.labels[r];
        if (in.split[r] != in.counted || label < 0) {
            for (std::int64_t c = 0; c < cols; ++c) g[c] = 0.0f;
            continue;
        }
        const float of_label = x[label], top = row_maximum(x, cols);
        const float sum = exponentials(x, top, cols, g);
        loss += std::log(static_cast<double>(sum)) - (static_cast<double>(of_label) - static_cast<double>(top));
        scale_row(g, static_cast<float>(in.scale / static_cast<double>(sum)), cols);
        g[label] -= static_cast<float>(in.scale);
    }
    return loss * in.scale;
}

void count_correct_rows_(ConstMatrixView logits, const LossInput& in, RowRange rows, std::int64_t* counts) {
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        if (in.split[r] == Split::none) continue;
        const float* x = static_cast<const float*>(logits.data) + r * logits.ld;
        const float top = row_maximum(x, logits.cols);
        std::int64_t first = 0;
        while (first < logits.cols && x[first] != top) ++first;
        const auto slot = 2 * (static_cast<std::size_t>(in.split[r]) - 1);
        counts[slot] += first == in.labels[r];
        ++counts[slot + 1];
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(softmax_cross_entropy_rows_);
HWY_EXPORT(count_correct_rows_);

double softmax_cross_entropy_rows(ConstMatrixView logits, const LossInput& in, MatrixView grad, RowRange rows) {
    return HWY_DYNAMIC_DISPATCH(softmax_cross_entropy_rows_)(logits, in, grad, rows);
}
void count_correct_rows(ConstMatrixView logits, const LossInput& in, RowRange rows, std::int64_t* counts) {
    HWY_DYNAMIC_DISPATCH(count_correct_rows_)(logits, in, rows, counts);
}
}  // namespace gnnbench::cpu
#endif
