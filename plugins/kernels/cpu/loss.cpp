// Softmax cross entropy and binary cross-entropy, forward and backward in one pass over the logits; accuracy and the
// counts of micro-F1.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/loss.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <gnnbench/usize.hpp>

#include "exp-inl.hpp"
#include "row_operations.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// max over the row.
template <class T>
T row_maximum(const T* x, std::int64_t cols) {
    const Tag<T> d;
    Vec<T> best = hn::Set(d, -std::numeric_limits<T>::infinity());
    for_vectors<T>(cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        const auto in = hn::FirstN(d, usize(n));
        best = hn::Max(best, hn::IfThenElse(in, load_n(x + c, n), best));
    });
    return hn::GetLane(hn::MaxOfLanes(d, best));
}

/// p[c] ← exp(x[c] − top); returns their sum. p may be x.
template <class T>
T exponentials(const T* x, T top, std::int64_t cols, T* p) {
    const Tag<T> d;
    Vec<T> sum = hn::Zero(d);
    for_vectors<T>(cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        const Vec<T> e = exponential<T>(hn::Sub(load_n(x + c, n), hn::Set(d, top)));
        store_n(e, p + c, n);
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, usize(n)), e));
    });
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class T>
void scale_row(T* p, T factor, std::int64_t cols) {
    const Tag<T> d;
    for_vectors<T>(cols, [&](std::int64_t c, std::int64_t n)
                             HWY_ATTR { store_n(hn::Mul(load_n(p + c, n), hn::Set(d, factor)), p + c, n); });
}

/// Σ log x over factors of 1 or more, of which many fit a double as their product.
class LogOfProduct {
public:
    void times(double x) {
        product_ *= x;
        if (!(product_ <= 1e250)) flush();
    }
    double value() {
        flush();
        return sum_;
    }

private:
    void flush() {
        sum_ += std::log(product_);
        product_ = 1;
    }
    double sum_ = 0, product_ = 1;
};

/// Reads a row twice and writes its gradient twice, all but the first from the nearest cache. Rows go through each step a
/// group at a time, since one row's steps wait for each other.
template <class T>
double softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad, RowRange rows) {
    constexpr std::int64_t group = 16;
    const std::int64_t cols = logits.cols;
    double loss = 0;
    LogOfProduct sums;
    for (std::int64_t first = rows.begin; first < rows.end; first += group) {
        std::int64_t counted[group], n = 0;
        for (std::int64_t r = first; r < std::min(rows.end, first + group); ++r) {
            if (in.split[r] == in.counted && in.labels[r] >= 0)
                counted[n++] = r;
            else
                std::fill_n(row_of<T>(grad, r), cols, T{0});
        }
        T top[group], sum[group];
        for (std::int64_t i = 0; i < n; ++i) top[i] = row_maximum(row_of<T>(logits, counted[i]), cols);
        for (std::int64_t i = 0; i < n; ++i) {
            const T* x = row_of<T>(logits, counted[i]);
            loss -= static_cast<double>(x[in.labels[counted[i]]]) - static_cast<double>(top[i]);
            sum[i] =
                exponentials(x, top[i], cols, row_of<T>(grad, counted[i]));  // x's memory may be the gradient's
        }
        for (std::int64_t i = 0; i < n; ++i) {
            T* g = row_of<T>(grad, counted[i]);
            sums.times(static_cast<double>(sum[i]));
            scale_row(g, static_cast<T>(in.scale / static_cast<double>(sum[i])), cols);
            g[in.labels[counted[i]]] -= static_cast<T>(in.scale);
        }
    }
    return (loss + sums.value()) * in.scale;
}

template <class T>
void count_correct(ConstMatrixView logits, const LossInput& in, RowRange rows, std::int64_t* counts) {
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        if (in.split[r] == Split::none) continue;
        const T* x = static_cast<const T*>(logits.data) + r * logits.ld;
        const T top = row_maximum(x, logits.cols);
        std::int64_t first = 0;
        while (first < logits.cols && x[first] != top) ++first;
        const auto slot = 2 * (usize(in.split[r]) - 1);
        counts[slot] += first == in.labels[r];
        ++counts[slot + 1];
    }
}

/// sign[i] ← −1 where y[i] is 1, else 1; beyond n it is 1.
template <class T>
HWY_INLINE Vec<T> signs_of(const std::uint8_t* y, std::int64_t n) {
    alignas(64) T signs[lanes<T>];
    for (std::int64_t i = 0; i < lanes<T>; ++i) signs[i] = i < n && y[i] != 0 ? T{-1} : T{1};
    return hn::Load(Tag<T>(), signs);
}

/// With t = −x where y = 1, else x: the loss log(1 + eᵗ), whose derivative by x is ±σ(t).
template <class T>
double binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad, RowRange rows) {
    const Tag<T> d;
    const std::int64_t cols = logits.cols;
    const Vec<T> zero = hn::Zero(d), one = hn::Set(d, T{1}), scale = hn::Set(d, static_cast<T>(in.scale));
    double loss = 0;
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const T* x = row_of<T>(logits, r);
        T* g = row_of<T>(grad, r);
        if (in.split[r] != in.counted) {
            std::fill_n(g, cols, T{0});
            continue;
        }
        const std::uint8_t* y = in.label_matrix + r * cols;
        Vec<T> sum = zero;
        for_vectors<T>(cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
            const Vec<T> sign = signs_of<T>(y + c, n), t = hn::Mul(sign, load_n(x + c, n));
            const Vec<T> e = exponential<T>(hn::Neg(hn::Abs(t)));
            const Vec<T> element = hn::Add(hn::Max(t, zero), log_of_one_plus<T>(e));
            sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, usize(n)), element));
            const Vec<T> share = hn::Div(hn::Mul(sign, scale), hn::Add(one, e));
            store_n(hn::IfThenElse(hn::Gt(t, zero), share, hn::Mul(share, e)), g + c, n);
        });
        loss += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
    }
    return loss * in.scale;
}

template <class T>
void count_positives(ConstMatrixView logits, const LossInput& in, RowRange rows, std::int64_t* counts) {
    const std::int64_t cols = logits.cols;
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        if (in.split[r] == Split::none) continue;
        const T* x = row_of<T>(logits, r);
        const std::uint8_t* y = in.label_matrix + r * cols;
        std::int64_t both = 0, claimed = 0, labels = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            const int claims = x[c] > 0, has = y[c] != 0;
            both += claims & has;
            claimed += claims;
            labels += has;
        }
        std::int64_t* of_split = counts + 3 * (static_cast<std::ptrdiff_t>(in.split[r]) - 1);
        of_split[0] += both;
        of_split[1] += claimed - both;
        of_split[2] += labels - both;
    }
}

template <class T>
constexpr LossOperations<T> operations = {&softmax_cross_entropy<T>, &count_correct<T>, &binary_cross_entropy<T>,
                                          &count_positives<T>};

const LossOperations<float>& loss_operations_f32() { return operations<float>; }
const LossOperations<double>& loss_operations_f64() { return operations<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(loss_operations_f32);
HWY_EXPORT(loss_operations_f64);

template <>
const LossOperations<float>& loss_operations<float>() {
    static const LossOperations<float>& chosen = HWY_DYNAMIC_DISPATCH(loss_operations_f32)();
    return chosen;
}
template <>
const LossOperations<double>& loss_operations<double>() {
    static const LossOperations<double>& chosen = HWY_DYNAMIC_DISPATCH(loss_operations_f64)();
    return chosen;
}
}  // namespace gnnbench::cpu
#endif
