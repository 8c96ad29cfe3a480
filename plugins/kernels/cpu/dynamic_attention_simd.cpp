// Dynamic attention by rows (gnnbench/verbs/dynamic_attention.hpp has the formulas).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dynamic_attention_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attention-inl.hpp"
#include "dynamic_attention.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Scores ⟨a, λ(s + t)⟩ of each head, from rows of w numbers.
template <class T>
HWY_INLINE void scores(const HeadLayout& h, const T* vector, const T* s, const T* t, Vec<T> slope,
                       T* HWY_RESTRICT partial, T* out) {
    dots_with(
        h, vector,
        [&](std::int64_t c, std::int64_t n)
            HWY_ATTR { return leaky<T>(hn::Add(load_n(s + c, n), load_n(t + c, n)), slope); },
        partial, out);
}

/// NV vectors of columns of `to`, from column `first` on: to ← to + Σ_e weights_e λ'(own + rows_e).
template <int NV, class T>
HWY_INLINE void add_slope_block(std::int64_t period, const T* own, const T* const* rows, const T* weights, T slope,
                                std::int64_t count, std::int64_t first, std::int64_t last, T* HWY_RESTRICT to) {
    const Tag<T> d;
    std::int64_t place[NV];
    Vec<T> sum[NV], mine[NV];
    const Vec<T> for_negative = hn::Set(d, slope);
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) {
        place[k] = (first + k * lanes<T>) % period;
        const std::int64_t n = k + 1 < NV ? lanes<T> : last;
        sum[k] = load_n(to + first + k * lanes<T>, n);
        mine[k] = load_n(own + first + k * lanes<T>, n);
    }
    for (std::int64_t e = 0; e < count; ++e) {
        const T* row = rows[e] + first;
        const T* weight = weights + e * period;
#pragma GCC unroll 8
        for (int k = 0; k < NV; ++k) {
            const std::int64_t n = k + 1 < NV ? lanes<T> : last;
            const Vec<T> argument = hn::Add(mine[k], load_n(row + k * lanes<T>, n));
            sum[k] =
                hn::MulAdd(hn::LoadU(d, weight + place[k]), leaky_derivative<T>(argument, for_negative), sum[k]);
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) store_n(sum[k], to + first + k * lanes<T>, k + 1 < NV ? lanes<T> : last);
}

template <class T>
HWY_INLINE void add_slopes(const HeadLayout& h, const T* own, const T* const* rows, const T* weights, T slope,
                           std::int64_t count, T* to) {
    constexpr std::int64_t most = 8, width = lanes<T>;
    for (std::int64_t c = 0; c < h.width; c += most * width) {
        const std::int64_t cols = std::min(most * width, h.width - c), vectors = (cols + width - 1) / width,
                           last = cols - (vectors - 1) * width;
        using Add = void (*)(std::int64_t, const T*, const T* const*, const T*, T, std::int64_t, std::int64_t,
                             std::int64_t, T*);
        static constexpr Add add[] = {&add_slope_block<1, T>, &add_slope_block<2, T>, &add_slope_block<3, T>,
                                      &add_slope_block<4, T>, &add_slope_block<5, T>, &add_slope_block<6, T>,
                                      &add_slope_block<7, T>, &add_slope_block<8, T>};
        add[vectors - 1](h.period, own, rows, weights, slope, count, c, last, to);
    }
}

template <class T>
void dynamic_attend(const DynamicAttendCall<T>& call, RowRange rows) {
    const HeadLayout h = HeadLayout::of<T>(call.heads, call.b.cols);
    Chunk<T> chunk(h, call.b.cols);
    EntryDropout<T> dropout(call.dropout, call.heads);
    const Vec<T> slope = hn::Set(Tag<T>(), call.slope);
    const T* vector = row_of<T>(call.vector, 0);
    const std::int64_t total = call.a.indptr[call.a.rows];
    T* const tops = chunk.of_heads.data();
    T* const scale = tops + h.heads;
    for (std::int64_t position = rows.begin; position < rows.end; ++position) {
        const std::int64_t i = call.a.at(position);
        const T* s = row_of<T>(call.s, i);
        T *z = row_of<T>(call.rows.z, i), *maxima = row_of<T>(call.rows.maxima, i),
          *sums = row_of<T>(call.rows.sums, i);
        if (call.stage.first) {
            std::fill_n(z, h.width, T{0});
            std::fill_n(maxima, h.heads, -std::numeric_limits<T>::infinity());
            std::fill_n(sums, h.heads, T{0});
        }
        const std::int64_t end = call.a.indptr[i + 1];
        for (std::int64_t first = call.a.indptr[i]; first < end; first += chunk.most) {
            const std::int64_t count = std::min(chunk.most, end - first);
            std::copy_n(maxima, h.heads, tops);
            // e_ij, and the largest so far
            for (std::int64_t e = 0; e < count; ++e) {
                const T* row = row_of<T>(call.b, call.a.indices[first + e]);
                chunk.rows[usize(e)] = row;
                prefetch_row<2>(row_of<T>(call.b, call.a.indices[std::min(first + e + chunk.most, total - 1)]),
                                call.b.cols);
                T* const found = chunk.compact.data() + e * h.heads;
                scores(h, vector, s, row, slope, chunk.partial.data(), found);
                for (std::int64_t k = 0; k < h.heads; ++k) tops[k] = std::max(tops[k], found[k]);
            }
            // What was summed up is of another maximum.
            for (std::int64_t k = 0; k < h.heads; ++k) scale[k] = std::exp(maxima[k] - tops[k]);
            for (std::int64_t k = 0; k < h.heads; ++k) sums[k] *= scale[k];
            std::copy_n(tops, h.heads, maxima);
            // p_ij = a_ij exp(e_ij − maximum)
            for (std::int64_t e = 0; e < count; ++e)
                for (std::int64_t k = 0; k < h.heads; ++k) chunk.compact[usize(e * h.heads + k)] -= tops[k];
            exponentials(chunk.compact.data(), count * h.heads);
            for (std::int64_t e = 0; e < count; ++e)
                for (std::int64_t k = 0; k < h.heads; ++k)
                    sums[k] += chunk.compact[usize(e * h.heads + k)] *= call.a.values[first + e];
            dropout.apply(count, Place{nullptr, i}, Place{call.a.indices + first, 0}, chunk.compact.data(),
                          nullptr);
            repeat(h, scale, 1, chunk.scale.data());
            repeat(h, chunk.compact.data(), count, chunk.weights.data());
            add_rows(h, chunk.rows.data(), chunk.weights.data(), chunk.scale.data(), count, z);
        }
        if (!call.stage.last) continue;
        for (std::int64_t k = 0; k < h.heads; ++k) {
            const bool none = sums[k] == T{0};
            scale[k] = none ? T{0} : T{1} / sums[k];
            maxima[k] = none ? T{0} : maxima[k] + std::log(sums[k]);
        }
        for (std::int64_t c = 0; c < h.width; c += h.heads)
            for (std::int64_t k = 0; k < h.heads; ++k) z[c + k] *= scale[k];
    }
}

template <class T>
void dynamic_backward(const DynamicBackwardCall<T>& call, RowRange rows) {
    const HeadLayout h = HeadLayout::of<T>(call.heads, call.slopes.cols);
    Chunk<T> chunk(h, call.b.cols);
    EntryDropout<T> dropout(call.dropout, call.heads);
    const Vec<T> slope = hn::Set(Tag<T>(), call.slope);
    const T* vector = row_of<T>(call.vector, 0);
    const std::int64_t total = call.a.indptr[call.a.rows];
    std::vector<T> kept(chunk.compact.size());        // m_ij
    std::vector<const T*> others(chunk.rows.size());  // what λ' depends on, of the entries
    std::fill(chunk.scale.begin(), chunk.scale.end(), T{1});
    for (std::int64_t position = rows.begin; position < rows.end; ++position) {
        const std::int64_t r = call.a.at(position);
        const T* own = row_of<T>(call.own, r);
        T* const slopes = row_of<T>(call.slopes, r);
        T* const sums = call.of_rows ? nullptr : row_of<T>(call.sums, r);
        if (call.first) {
            std::fill_n(slopes, h.width, T{0});
            if (sums) std::fill_n(sums, h.width, T{0});
        }
        const T* const mine = call.of_rows ? own + h.width : own;  // s_i, or t_j
        const std::int64_t end = call.a.indptr[r + 1];
        for (std::int64_t first = call.a.indptr[r]; first < end; first += chunk.most) {
            const std::int64_t count = std::min(chunk.most, end - first);
            // log α_ij − log a_ij = e_ij − log Σ, and ⟨G_i, t_j⟩
            for (std::int64_t e = 0; e < count; ++e) {
                const T* row = row_of<T>(call.b, call.a.indices[first + e]);
                chunk.rows[usize(e)] = row;
                prefetch_row<2>(row_of<T>(call.b, call.a.indices[std::min(first + e + chunk.most, total - 1)]),
                                call.b.cols);
                const T *g = call.of_rows ? own : row, *t = call.of_rows ? row : own, *log_sum = g + 2 * h.width;
                others[usize(e)] = call.of_rows ? row : row + h.width;
                T* const found = chunk.compact.data() + e * h.heads;
                scores(h, vector, mine, others[usize(e)], slope, chunk.partial.data(), found);
                for (std::int64_t k = 0; k < h.heads; ++k) found[k] -= log_sum[k];
                dots(h, g, t, chunk.partial.data(), chunk.derivatives.data() + e * h.heads);
            }
            exponentials(chunk.compact.data(), count * h.heads);
            std::fill_n(kept.data(), count * h.heads, T{1});
            const Place at{nullptr, r}, of{call.a.indices + first, 0};
            dropout.apply(count, call.of_rows ? at : of, call.of_rows ? of : at, kept.data(), nullptr);
            // m α, and de_ij
            for (std::int64_t e = 0; e < count; ++e) {
                const T* given = (call.of_rows ? own : chunk.rows[usize(e)]) + 2 * h.width + h.heads;
                for (std::int64_t k = 0; k < h.heads; ++k) {
                    const auto place = usize(e * h.heads + k);
                    const T alpha = call.a.values[first + e] * chunk.compact[place], m = kept[place];
                    chunk.derivatives[place] = alpha * (m * chunk.derivatives[place] - given[k]);
                    chunk.compact[place] = m * alpha;
                }
            }
            repeat(h, chunk.derivatives.data(), count, chunk.slopes.data());
            add_slopes(h, mine, others.data(), chunk.slopes.data(), call.slope, count, slopes);
            if (!sums) continue;
            repeat(h, chunk.compact.data(), count, chunk.weights.data());
            add_rows(h, chunk.rows.data(), chunk.weights.data(), chunk.scale.data(), count, sums);
        }
    }
}

template <class T>
constexpr DynamicOperations<T> operations = {&dynamic_attend<T>, &dynamic_backward<T>};

const DynamicOperations<float>& dynamic_operations_f32() { return operations<float>; }
const DynamicOperations<double>& dynamic_operations_f64() { return operations<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(dynamic_operations_f32);
HWY_EXPORT(dynamic_operations_f64);

template <>
const DynamicOperations<float>& dynamic_operations<float>() {
    static const DynamicOperations<float>& chosen = HWY_DYNAMIC_DISPATCH(dynamic_operations_f32)();
    return chosen;
}
template <>
const DynamicOperations<double>& dynamic_operations<double>() {
    static const DynamicOperations<double>& chosen = HWY_DYNAMIC_DISPATCH(dynamic_operations_f64)();
    return chosen;
}
}  // namespace gnnbench::cpu
#endif
