// Bias, activation, dropout and their backward; sums and optimizer steps.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include <hwy/cache_control.h>

#include <gnnbench/usize.hpp>

#include "ahead.hpp"
#include "dropout-inl.hpp"
#include "exp-inl.hpp"
#include "row_operations.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <Activation A, class T>
HWY_INLINE Vec<T> activated(Vec<T> x) {
    const Tag<T> d;
    if constexpr (A == Activation::relu) {
        // NaN stays: of operands one of which is NaN, x86's maximum is the second, and Highway's own 0.
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
        return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
#else
        return hn::Max(hn::Zero(d), x);
#endif
    }
    if constexpr (A == Activation::leaky_relu)
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, static_cast<T>(leaky_slope))));
    if constexpr (A == Activation::sigmoid) return sigmoid<T>(x);
    if constexpr (A == Activation::elu)
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, exponential_minus_one<T>(x));
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
    if constexpr (A == Activation::elu) return hn::IfThenElse(hn::Gt(y, hn::Zero(d)), one, hn::Add(one, y));
    return one;
}

/// z ← e(x) for `cols` columns; with words, dropout's of the first of them first.
template <Activation A, class T>
HWY_INLINE void epilogue_row(const FlatEpilogue<T>& e, const T* bias, const std::uint32_t* words,
                             std::int64_t cols, const T* x, T* z) {
    for_vectors<T>(cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        Vec<T> v = load_n(x + c, n);
        if (bias) v = hn::Add(v, load_n(bias + c, n));
        v = activated<A, T>(v);
        if (words) v = dropped<T>(v, words + c, e.threshold, e.scale);
        store_n(v, z + c, n);
    });
}

template <Activation A, class T>
HWY_INLINE void backward_row(const FlatEpilogue<T>& e, const std::uint32_t* words, std::int64_t cols, const T* h,
                             const T* dh, T* dz) {
    const Tag<T> d;
    const Vec<T> unscale = hn::Set(d, T{1} / e.scale), scale = hn::Set(d, e.scale);
    for_vectors<T>(cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        constexpr bool curved = A == Activation::sigmoid || A == Activation::elu;
        const Vec<T> y = curved ? hn::Mul(load_n(h + c, n), unscale) : load_n(h + c, n);
        Vec<T> v = hn::Mul(load_n(dh + c, n), slope<A, T>(y));
        if (words) {
            v = dropped<T>(v, words + c, e.threshold, e.scale);
        } else if (e.drops) {
            v = hn::Mul(v, scale);
        }
        store_n(v, dz + c, n);
    });
}

/// Calls f(row, first column, columns, words) for all of the rows, a block of columns after another. `first`: where the
/// mask has the first column.
template <class T, class G>
void with_words(const FlatEpilogue<T>& e, RowRange rows, std::int64_t first_row, std::int64_t first,
                std::int64_t cols, G&& f) {
    for (std::int64_t c = 0; c < cols; c += MaskWords::most_columns) {
        const std::int64_t count = std::min(cols - c, MaskWords::most_columns);
        MaskWords words(e.dropout, first + c, count);
        for (std::int64_t r = rows.begin; r < rows.end; r += words.rows()) {
            const std::int64_t some = std::min(words.rows(), rows.end - r);
            words.draw(some, [&](std::int64_t i) { return e.vertex(first_row + r + i); });
            for (std::int64_t i = 0; i < some; ++i) f(r + i, c, count, words.row(i));
        }
    }
}

/// Without a row's own operands, rows that follow each other are one.
bool is_one_row(ConstMatrixView a, ConstMatrixView b) { return a.contiguous() && b.contiguous(); }

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
        case Activation::elu:
            return f.template operator()<Activation::elu>();
    }
}

template <class T>
void epilogue(const FlatEpilogue<T>& e, ConstMatrixView x, MatrixView z, RowRange rows, Origin origin) {
    const T* bias = e.bias ? e.bias + origin.col : nullptr;
    with_activation(e.activation, [&]<Activation A>() {
        if (e.drops)
            with_words(e, rows, origin.row, origin.col, x.cols,
                       [&](std::int64_t r, std::int64_t c, std::int64_t count, const std::uint32_t* words)
                           HWY_ATTR {
                               epilogue_row<A>(e, bias ? bias + c : nullptr, words, count, row_of<T>(x, r) + c,
                                               row_of<T>(z, r) + c);
                           });
        else if (!bias && is_one_row(x, z))
            epilogue_row<A, T>(e, nullptr, nullptr, (rows.end - rows.begin) * x.cols, row_of<T>(x, rows.begin),
                               row_of<T>(z, rows.begin));
        else
            for (std::int64_t r = rows.begin; r < rows.end; ++r)
                epilogue_row<A, T>(e, bias, nullptr, x.cols, row_of<T>(x, r), row_of<T>(z, r));
    });
}

template <class T>
void epilogue_backward(const FlatEpilogue<T>& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz,
                       RowRange rows) {
    with_activation(e.activation, [&]<Activation A>() {
        // A relu's h is positive only where it was kept: its mask need not be drawn again.
        if (e.drops && A != Activation::relu)
            with_words(e, rows, 0, 0, h.cols,
                       [&](std::int64_t r, std::int64_t c, std::int64_t count, const std::uint32_t* words)
                           HWY_ATTR {
                               backward_row<A>(e, words, count, row_of<T>(h, r) + c, row_of<T>(dh, r) + c,
                                               row_of<T>(dz, r) + c);
                           });
        else if (is_one_row(h, dh) && dz.contiguous())
            backward_row<A, T>(e, nullptr, (rows.end - rows.begin) * h.cols, row_of<T>(h, rows.begin),
                               row_of<T>(dh, rows.begin), row_of<T>(dz, rows.begin));
        else
            for (std::int64_t r = rows.begin; r < rows.end; ++r)
                backward_row<A, T>(e, nullptr, h.cols, row_of<T>(h, r), row_of<T>(dh, r), row_of<T>(dz, r));
    });
}

/// Σ of the rows, of `vectors` vectors of columns from `c` on; the last has `n` columns.
template <int vectors, class T>
void add_sums(ConstMatrixView g, RowRange rows, std::int64_t c, std::int64_t n, double* sums) {
    const Tag<T> d;
    Vec<T> sum[vectors];
    for (Vec<T>& s : sum) s = hn::Zero(d);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const T* row = row_of<T>(g, r) + c;
        for (int v = 0; v + 1 < vectors; ++v) sum[v] = hn::Add(sum[v], hn::LoadU(d, row + v * lanes<T>));
        sum[vectors - 1] = hn::Add(sum[vectors - 1], load_n(row + (vectors - 1) * lanes<T>, n));
    }
    alignas(64) T part[vectors * lanes<T>];
    for (int v = 0; v < vectors; ++v) hn::Store(sum[v], d, part + v * lanes<T>);
    for (std::int64_t i = 0; i < (vectors - 1) * lanes<T> + n; ++i) sums[c + i] += static_cast<double>(part[i]);
}

template <class T>
void add_column_sums(ConstMatrixView g, RowRange rows, double* sums) {
    // 256 rows in the element type, then float64: fast, and no worse than pairwise summation.
    for (std::int64_t first = rows.begin; first < rows.end; first += 256) {
        const RowRange some{first, std::min(rows.end, first + 256)};
        for (std::int64_t c = 0; c < g.cols; c += 8 * lanes<T>) {
            const std::int64_t cols = std::min(8 * lanes<T>, g.cols - c),
                               vectors = (cols + lanes<T> - 1) / lanes<T>, n = cols - (vectors - 1) * lanes<T>;
            using Add = void (*)(ConstMatrixView, RowRange, std::int64_t, std::int64_t, double*);
            constexpr Add add[] = {&add_sums<1, T>, &add_sums<2, T>, &add_sums<3, T>, &add_sums<4, T>,
                                   &add_sums<5, T>, &add_sums<6, T>, &add_sums<7, T>, &add_sums<8, T>};
            add[vectors - 1](g, some, c, n, sums);
        }
    }
}

template <class T>
void gather(ConstMatrixView from, const std::int32_t* sources, MatrixView to, RowRange rows, bool past_caches) {
    const Tag<T> d;
    const std::size_t row_bytes = usize(from.cols) * sizeof(T);
    const Ahead ahead = ahead_of_random_rows(from.cols * static_cast<std::int64_t>(sizeof(T)));
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const auto row_after = [&](std::int64_t by) {
            return row_of<T>(from, sources[std::min(r + by, rows.end - 1)]);
        };
        prefetch_row<2>(row_after(ahead.second), from.cols);
        prefetch_row<1>(row_after(ahead.first), from.cols);
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

template <class T>
void fill(T* to, std::int64_t count, T value, bool past_caches) {
    const Tag<T> d;
    const Vec<T> v = hn::Set(d, value);
    std::int64_t i = 0;
    if (past_caches) {
        for (; i + lanes<T> <= count; i += lanes<T>) hn::Stream(v, d, to + i);
        hwy::FlushStream();
    }
    for_vectors<T>(count - i, [&](std::int64_t c, std::int64_t n) HWY_ATTR { store_n(v, to + i + c, n); });
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
constexpr RowOperations<T> operations = {&epilogue<T>, &epilogue_backward<T>, &add_column_sums<T>,
                                         &gather<T>,   &copy_lines<T>,        &scatter_add<T>,
                                         &fill<T>,     &optimizer<T>};

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
