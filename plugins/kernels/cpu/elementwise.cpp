// Bias, activation, dropout and their backward; sums and optimizer steps.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include <hwy/cache_control.h>

#include <gnnbench/usize.hpp>

#include "exp-inl.hpp"
#include "row_operations.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <Activation A, class T>
HWY_INLINE Vec<T> activated(Vec<T> x) {
    const Tag<T> d;
    if constexpr (A == Activation::relu) return hn::Max(x, hn::Zero(d));
    if constexpr (A == Activation::leaky_relu)
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, static_cast<T>(leaky_slope))));
    if constexpr (A == Activation::sigmoid) {
        const Vec<T> one = hn::Set(d, T{1});
        return hn::Div(one, hn::Add(one, exponential<T>(hn::Neg(x))));
    }
    return x;
}

/// σ'(z) from y = σ(z).
template <Activation A, class T>
HWY_INLINE Vec<T> slope(Vec<T> y) {
    const Tag<T> d;
    const Vec<T> one = hn::Set(d, T{1});
    if constexpr (A == Activation::relu) return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), one);
    if constexpr (A == Activation::leaky_relu)
        return hn::IfThenElse(hn::Gt(y, hn::Zero(d)), one, hn::Set(d, static_cast<T>(leaky_slope)));
    if constexpr (A == Activation::sigmoid) return hn::Mul(y, hn::Sub(one, y));
    return one;
}

/// v · scale where the word keeps it, else 0.
template <class T>
HWY_INLINE Vec<T> dropped(Vec<T> v, const std::uint32_t* word, const FlatEpilogue<T>& e) {
    const Tag<T> d;
    const auto kept = hn::Mul(v, hn::Set(d, e.scale));
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
        const U du;
        return hn::IfThenZeroElse(hn::RebindMask(d, hn::Lt(hn::LoadU(du, word), hn::Set(du, e.threshold))), kept);
    } else {
        const hn::RebindToUnsigned<Tag<T>> wide;
        const auto words = hn::PromoteTo(wide, hn::LoadU(hn::Rebind<std::uint32_t, Tag<T>>(), word));
        const auto lost = hn::Lt(words, hn::Set(wide, std::uint64_t{e.threshold}));
        return hn::IfThenZeroElse(hn::RebindMask(d, lost), kept);
    }
}

template <Activation A, class T>
void epilogue_row(const FlatEpilogue<T>& e, std::int64_t row, std::int64_t first_col, std::int64_t cols,
                  const T* x, T* z) {
    alignas(64) std::uint32_t buffer[word_buffer];
    for (std::int64_t block = 0; block < cols; block += words_per_call) {
        const std::int64_t block_end = std::min(cols, block + words_per_call);
        const std::uint32_t* words =
            e.drops ? column_words(e.dropout, e.vertex(row), first_col + block, block_end - block, buffer)
                    : nullptr;
        for (std::int64_t c = block; c < block_end; c += lanes<T>) {
            const std::int64_t n = std::min(lanes<T>, block_end - c);
            Vec<T> v = load_n(x + c, n);
            if (e.bias) v = hn::Add(v, load_n(e.bias + first_col + c, n));
            v = activated<A, T>(v);
            if (e.drops) v = dropped<T>(v, words + (c - block), e);
            store_n(v, z + c, n);
        }
    }
}

template <Activation A, class T>
void backward_row(const FlatEpilogue<T>& e, std::int64_t row, std::int64_t cols, const T* h, const T* dh, T* dz) {
    const Tag<T> d;
    alignas(64) std::uint32_t buffer[word_buffer];
    // A relu's h is positive only where it was kept: its mask need not be drawn again.
    const bool draws = e.drops && A != Activation::relu;
    const Vec<T> unscale = hn::Set(d, T{1} / e.scale), scale = hn::Set(d, e.scale);
    for (std::int64_t block = 0; block < cols; block += words_per_call) {
        const std::int64_t block_end = std::min(cols, block + words_per_call);
        const std::uint32_t* words =
            draws ? column_words(e.dropout, e.vertex(row), block, block_end - block, buffer) : nullptr;
        for (std::int64_t c = block; c < block_end; c += lanes<T>) {
            const std::int64_t n = std::min(lanes<T>, block_end - c);
            const Vec<T> y = A == Activation::sigmoid ? hn::Mul(load_n(h + c, n), unscale) : load_n(h + c, n);
            Vec<T> v = hn::Mul(load_n(dh + c, n), slope<A, T>(y));
            if (draws) {
                v = dropped<T>(v, words + (c - block), e);
            } else if (e.drops) {
                v = hn::Mul(v, scale);
            }
            store_n(v, dz + c, n);
        }
    }
}

/// Calls f with the activation as a compile-time constant.
template <class G>
void with_activation(Activation a, G&& f) {
    switch (a) {
        case Activation::identity:
            return f.template operator()<Activation::identity>();
        case Activation::relu:
            return f.template operator()<Activation::relu>();
        case Activation::leaky_relu:
            return f.template operator()<Activation::leaky_relu>();
        case Activation::sigmoid:
            return f.template operator()<Activation::sigmoid>();
    }
}

template <class T>
void epilogue(const FlatEpilogue<T>& e, ConstMatrixView x, MatrixView z, RowRange rows, Origin origin) {
    with_activation(e.activation, [&]<Activation A>() {
        for (std::int64_t r = rows.begin; r < rows.end; ++r)
            epilogue_row<A>(e, origin.row + r, origin.col, x.cols, row_of<T>(x, r), row_of<T>(z, r));
    });
}

template <class T>
void epilogue_backward(const FlatEpilogue<T>& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz,
                       RowRange rows) {
    with_activation(e.activation, [&]<Activation A>() {
        for (std::int64_t r = rows.begin; r < rows.end; ++r)
            backward_row<A>(e, r, h.cols, row_of<T>(h, r), row_of<T>(dh, r), row_of<T>(dz, r));
    });
}

template <class T>
void add_column_sums(ConstMatrixView g, RowRange rows, double* sums) {
    const Tag<T> d;
    for_vectors<T>(g.cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        // 256 rows in the element type, then float64: fast, and no worse than pairwise summation.
        for (std::int64_t first = rows.begin; first < rows.end; first += 256) {
            const std::int64_t end = std::min(rows.end, first + 256);
            Vec<T> sum = hn::Zero(d);
            for (std::int64_t r = first; r < end; ++r) sum = hn::Add(sum, load_n(row_of<T>(g, r) + c, n));
            alignas(64) T part[lanes<T>];
            hn::Store(sum, d, part);
            for (std::int64_t i = 0; i < n; ++i) sums[c + i] += static_cast<double>(part[i]);
        }
    });
}

template <class T>
void gather(ConstMatrixView from, const std::int32_t* sources, MatrixView to, RowRange rows, bool past_caches) {
    constexpr std::int64_t ahead = 8, line = 64 / sizeof(T);
    const Tag<T> d;
    const std::size_t row_bytes = usize(from.cols) * sizeof(T);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const T* next = row_of<T>(from, sources[std::min(r + ahead, rows.end - 1)]);
        for (std::int64_t c = 0; c < from.cols; c += line) __builtin_prefetch(next + c);
        const T* in = row_of<T>(from, sources[r]);
        T* out = row_of<T>(to, r);
        if (!past_caches) {
            std::memcpy(out, in, row_bytes);
            continue;
        }
        for (std::int64_t c = 0; c < from.cols; c += lanes<T>) hn::Stream(hn::LoadU(d, in + c), d, out + c);
    }
    if (past_caches) hwy::FlushStream();
}

template <class T>
void copy_lines(const void* from, void* to, std::int64_t begin, std::int64_t end, bool past_caches) {
    constexpr std::int64_t ahead = 16, line = 64 / sizeof(T);
    const T* const in = static_cast<const T*>(from);
    T* const out = static_cast<T*>(to);
    if (!past_caches) {
        std::memcpy(out + begin * line, in + begin * line, usize(end - begin) * 64);
        return;
    }
    const Tag<T> d;
    for (std::int64_t r = begin; r < end; ++r) {
        __builtin_prefetch(in + (r + ahead) * line);
        for (std::int64_t c = r * line; c < (r + 1) * line; c += lanes<T>)
            hn::Stream(hn::LoadU(d, in + c), d, out + c);
    }
    hwy::FlushStream();
}

template <class T>
void scatter_add(ConstMatrixView from, const std::int32_t* targets, MatrixView to, RowRange rows) {
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        T* out = row_of<T>(to, targets[r]);
        const T* in = row_of<T>(from, r);
        for_vectors<T>(from.cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
            store_n(hn::Add(load_n(out + c, n), load_n(in + c, n)), out + c, n);
        });
    }
}

/// SGD: w ← w − η(g + λw). Adam: the same gradient through its moments. AdamW: w ← w(1 − ηλ), then Adam of g.
template <class T>
void optimizer(const OptimizerStep<T>& s, const ParameterSlot& slot, std::int64_t begin, std::int64_t end) {
    const Tag<T> d;
    auto* w = static_cast<T*>(slot.weight);
    const auto* g = static_cast<const T*>(slot.gradient);
    auto* m = static_cast<T*>(slot.first_moment);
    auto* v = static_cast<T*>(slot.second_moment);
    const Vec<T> rate = hn::Set(d, s.rate), decay = hn::Set(d, static_cast<T>(slot.weight_decay));
    const Vec<T> shrink = hn::Set(d, static_cast<T>(1.0 - static_cast<double>(s.rate) * slot.weight_decay));
    const Vec<T> beta1 = hn::Set(d, s.beta1), rest1 = hn::Set(d, s.rest1);
    const Vec<T> beta2 = hn::Set(d, s.beta2), rest2 = hn::Set(d, s.rest2);
    const Vec<T> first = hn::Set(d, s.first_correction), second = hn::Set(d, s.second_correction);
    const Vec<T> epsilon = hn::Set(d, s.epsilon);
    for_vectors<T>(end - begin, [&](std::int64_t i, std::int64_t n) HWY_ATTR {
        i += begin;
        Vec<T> weight = load_n(w + i, n), gradient = load_n(g + i, n);
        if (s.kind == OptimizerKind::adamw) {
            weight = hn::Mul(weight, shrink);
        } else {
            gradient = hn::MulAdd(decay, weight, gradient);
        }
        if (s.kind == OptimizerKind::sgd) {
            store_n(hn::NegMulAdd(rate, gradient, weight), w + i, n);
            return;
        }
        const Vec<T> m1 = hn::MulAdd(beta1, load_n(m + i, n), hn::Mul(rest1, gradient));
        const Vec<T> v1 = hn::MulAdd(beta2, load_n(v + i, n), hn::Mul(rest2, hn::Mul(gradient, gradient)));
        store_n(m1, m + i, n);
        store_n(v1, v + i, n);
        const Vec<T> step = hn::Div(hn::Mul(m1, first), hn::Add(hn::Sqrt(hn::Mul(v1, second)), epsilon));
        store_n(hn::NegMulAdd(rate, step, weight), w + i, n);
    });
}

template <class T>
constexpr RowOperations<T> operations = {&epilogue<T>,   &epilogue_backward<T>, &add_column_sums<T>, &gather<T>,
                                         &copy_lines<T>, &scatter_add<T>,       &optimizer<T>};

const RowOperations<float>& row_operations_f32() { return operations<float>; }
const RowOperations<double>& row_operations_f64() { return operations<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(row_operations_f32);
HWY_EXPORT(row_operations_f64);

template <>
const RowOperations<float>& row_operations<float>() {
    static const RowOperations<float>& chosen = HWY_DYNAMIC_DISPATCH(row_operations_f32)();
    return chosen;
}
template <>
const RowOperations<double>& row_operations<double>() {
    static const RowOperations<double>& chosen = HWY_DYNAMIC_DISPATCH(row_operations_f64)();
    return chosen;
}
}  // namespace gnnbench::cpu
#endif
