// Bias, activation, dropout and their backward; sums and optimizer steps.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include <hwy/cache_control.h>

#include "row_operations.hpp"
#include "simd-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <Activation A>
HWY_INLINE VF activated(VF x) {
    const F d;
    if constexpr (A == Activation::relu) return hn::Max(x, hn::Zero(d));
    if constexpr (A == Activation::leaky_relu)
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, static_cast<float>(leaky_slope))));
    if constexpr (A == Activation::sigmoid) {
        const VF one = hn::Set(d, 1.0f);
        const VF y = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(x))));
        return hn::IfThenElse(hn::IsNaN(x), x, y);  // Highway's Exp turns NaN into 0
    }
    return x;
}

/// σ'(z) from y = σ(z).
template <Activation A>
HWY_INLINE VF slope(VF y) {
    const F d;
    const VF one = hn::Set(d, 1.0f);
    if constexpr (A == Activation::relu) return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), one);
    if constexpr (A == Activation::leaky_relu)
        return hn::IfThenElse(hn::Gt(y, hn::Zero(d)), one, hn::Set(d, static_cast<float>(leaky_slope)));
    if constexpr (A == Activation::sigmoid) return hn::Mul(y, hn::Sub(one, y));
    return one;
}

/// v · scale where the word keeps it, else 0.
HWY_INLINE VF dropped(VF v, const std::uint32_t* word, const FlatEpilogue& e) {
    const U du;
    const auto lost = hn::Lt(hn::LoadU(du, word), hn::Set(du, e.threshold));
    return hn::IfThenZeroElse(hn::RebindMask(F(), lost), hn::Mul(v, hn::Set(F(), e.scale)));
}

template <Activation A>
void epilogue_row(const FlatEpilogue& e, std::int64_t row, std::int64_t first_col, std::int64_t cols,
                  const float* x, float* z) {
    alignas(64) std::uint32_t buffer[word_buffer];
    for (std::int64_t block = 0; block < cols; block += words_per_call) {
        const std::int64_t block_end = std::min(cols, block + words_per_call);
        const std::uint32_t* words =
            e.drops ? column_words(e.dropout, e.vertex(row), first_col + block, block_end - block, buffer)
                    : nullptr;
        for (std::int64_t c = block; c < block_end; c += lanes) {
            const std::int64_t n = std::min(lanes, block_end - c);
            VF v = load_n(x + c, n);
            if (e.bias) v = hn::Add(v, load_n(e.bias + first_col + c, n));
            v = activated<A>(v);
            if (e.drops) v = dropped(v, words + (c - block), e);
            store_n(v, z + c, n);
        }
    }
}

template <Activation A>
void backward_row(const FlatEpilogue& e, std::int64_t row, std::int64_t cols, const float* h, const float* dh,
                  float* dz) {
    alignas(64) std::uint32_t buffer[word_buffer];
    // A relu's h is positive only where it was kept: its mask need not be drawn again.
    const bool draws = e.drops && A != Activation::relu;
    const VF unscale = hn::Set(F(), 1.0f / e.scale), scale = hn::Set(F(), e.scale);
    for (std::int64_t block = 0; block < cols; block += words_per_call) {
        const std::int64_t block_end = std::min(cols, block + words_per_call);
        const std::uint32_t* words =
            draws ? column_words(e.dropout, e.vertex(row), block, block_end - block, buffer) : nullptr;
        for (std::int64_t c = block; c < block_end; c += lanes) {
            const std::int64_t n = std::min(lanes, block_end - c);
            const VF y = A == Activation::sigmoid ? hn::Mul(load_n(h + c, n), unscale) : load_n(h + c, n);
            VF v = hn::Mul(load_n(dh + c, n), slope<A>(y));
            if (draws) {
                v = dropped(v, words + (c - block), e);
            } else if (e.drops) {
                v = hn::Mul(v, scale);
            }
            store_n(v, dz + c, n);
        }
    }
}

const float* row_of(ConstMatrixView m, std::int64_t r) { return static_cast<const float*>(m.data) + r * m.ld; }
float* row_of(MatrixView m, std::int64_t r) { return static_cast<float*>(m.data) + r * m.ld; }

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

void epilogue_rows_(const FlatEpilogue& e, ConstMatrixView x, MatrixView z, RowRange rows, Origin origin) {
    with_activation(e.activation, [&]<Activation A>() {
        for (std::int64_t r = rows.begin; r < rows.end; ++r)
            epilogue_row<A>(e, origin.row + r, origin.col, x.cols, row_of(x, r), row_of(z, r));
    });
}

void epilogue_backward_rows_(const FlatEpilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz,
                             RowRange rows) {
    with_activation(e.activation, [&]<Activation A>() {
        for (std::int64_t r = rows.begin; r < rows.end; ++r)
            backward_row<A>(e, r, h.cols, row_of(h, r), row_of(dh, r), row_of(dz, r));
    });
}

void add_column_sums_(ConstMatrixView g, RowRange rows, double* sums) {
    const F d;
    for_vectors(g.cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        // 256 rows in float32, then float64: fast, and no worse than pairwise summation.
        for (std::int64_t first = rows.begin; first < rows.end; first += 256) {
            const std::int64_t end = std::min(rows.end, first + 256);
            VF sum = hn::Zero(d);
            for (std::int64_t r = first; r < end; ++r) sum = hn::Add(sum, load_n(row_of(g, r) + c, n));
            alignas(64) float part[HWY_LANES(float)];
            hn::Store(sum, d, part);
            for (std::int64_t i = 0; i < n; ++i) sums[c + i] += static_cast<double>(part[i]);
        }
    });
}

void gather_range_(ConstMatrixView from, const std::int32_t* sources, MatrixView to, RowRange rows,
                   bool past_caches) {
    constexpr std::int64_t ahead = 8, line = 16;
    const F d;
    const std::size_t row_bytes = static_cast<std::size_t>(from.cols) * sizeof(float);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const float* next = row_of(from, sources[std::min(r + ahead, rows.end - 1)]);
        for (std::int64_t c = 0; c < from.cols; c += line) __builtin_prefetch(next + c);
        const float* in = row_of(from, sources[r]);
        float* out = row_of(to, r);
        if (!past_caches) {
            std::memcpy(out, in, row_bytes);
            continue;
        }
        for (std::int64_t c = 0; c < from.cols; c += lanes) hn::Stream(hn::LoadU(d, in + c), d, out + c);
    }
    if (past_caches) hwy::FlushStream();
}

void scatter_add_range_(ConstMatrixView from, const std::int32_t* targets, MatrixView to, RowRange rows) {
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        float* out = row_of(to, targets[r]);
        const float* in = row_of(from, r);
        for_vectors(from.cols, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
            store_n(hn::Add(load_n(out + c, n), load_n(in + c, n)), out + c, n);
        });
    }
}

/// SGD: w ← w − η(g + λw). Adam: the same gradient through its moments. AdamW: w ← w(1 − ηλ), then Adam of g.
void optimizer_range_(const OptimizerStep& s, const ParameterSlot& slot, std::int64_t begin, std::int64_t end) {
    const F d;
    auto* w = static_cast<float*>(slot.weight);
    const auto* g = static_cast<const float*>(slot.gradient);
    auto* m = static_cast<float*>(slot.first_moment);
    auto* v = static_cast<float*>(slot.second_moment);
    const VF rate = hn::Set(d, s.rate), decay = hn::Set(d, static_cast<float>(slot.weight_decay));
    const VF shrink = hn::Set(d, static_cast<float>(1.0 - static_cast<double>(s.rate) * slot.weight_decay));
    const VF beta1 = hn::Set(d, s.beta1), rest1 = hn::Set(d, s.rest1);
    const VF beta2 = hn::Set(d, s.beta2), rest2 = hn::Set(d, s.rest2);
    const VF first = hn::Set(d, s.first_correction), second = hn::Set(d, s.second_correction);
    const VF epsilon = hn::Set(d, s.epsilon);
    for_vectors(end - begin, [&](std::int64_t i, std::int64_t n) HWY_ATTR {
        i += begin;
        VF weight = load_n(w + i, n), gradient = load_n(g + i, n);
        if (s.kind == OptimizerKind::adamw) {
            weight = hn::Mul(weight, shrink);
        } else {
            gradient = hn::MulAdd(decay, weight, gradient);
        }
        if (s.kind == OptimizerKind::sgd) {
            store_n(hn::NegMulAdd(rate, gradient, weight), w + i, n);
            return;
        }
        const VF m1 = hn::MulAdd(beta1, load_n(m + i, n), hn::Mul(rest1, gradient));
        const VF v1 = hn::MulAdd(beta2, load_n(v + i, n), hn::Mul(rest2, hn::Mul(gradient, gradient)));
        store_n(m1, m + i, n);
        store_n(v1, v + i, n);
        const VF step = hn::Div(hn::Mul(m1, first), hn::Add(hn::Sqrt(hn::Mul(v1, second)), epsilon));
        store_n(hn::NegMulAdd(rate, step, weight), w + i, n);
    });
}

const char* instruction_set_() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(epilogue_rows_);
HWY_EXPORT(epilogue_backward_rows_);
HWY_EXPORT(add_column_sums_);
HWY_EXPORT(gather_range_);
HWY_EXPORT(scatter_add_range_);
HWY_EXPORT(optimizer_range_);
HWY_EXPORT(instruction_set_);

void epilogue_rows(const FlatEpilogue& e, ConstMatrixView x, MatrixView z, RowRange rows, Origin origin) {
    HWY_DYNAMIC_DISPATCH(epilogue_rows_)(e, x, z, rows, origin);
}
void epilogue_backward_rows(const FlatEpilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz,
                            RowRange rows) {
    HWY_DYNAMIC_DISPATCH(epilogue_backward_rows_)(e, h, dh, dz, rows);
}
void add_column_sums(ConstMatrixView g, RowRange rows, double* sums) {
    HWY_DYNAMIC_DISPATCH(add_column_sums_)(g, rows, sums);
}
void gather_range(ConstMatrixView from, const std::int32_t* sources, MatrixView to, RowRange rows,
                  bool past_caches) {
    HWY_DYNAMIC_DISPATCH(gather_range_)(from, sources, to, rows, past_caches);
}
void scatter_add_range(ConstMatrixView from, const std::int32_t* targets, MatrixView to, RowRange rows) {
    HWY_DYNAMIC_DISPATCH(scatter_add_range_)(from, targets, to, rows);
}
void optimizer_range(const OptimizerStep& step, const ParameterSlot& slot, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(optimizer_range_)(step, slot, begin, end);
}
const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(instruction_set_)(); }
}  // namespace gnnbench::cpu
#endif
