// Attention by rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gnnbench/usize.hpp>

#include "attention-inl.hpp"
#include "attention.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
class RowAttention {
public:
    explicit RowAttention(const AttendCall<T>& call)
        : call_(call),
          h_(HeadLayout::of<T>(call.heads, call.rows.z.cols)),
          chunk_(h_, call.b.cols),
          dropout_(call.dropout, call.heads),
          wants_slopes_(call.rows.slopes.cols > 0) {}

    void run(RowRange rows) {
        for (std::int64_t position = rows.begin; position < rows.end; ++position) {
            const std::int64_t r = call_.a.at(position);
            begin(r);
            const std::int64_t end = call_.a.indptr[r + 1];
            for (std::int64_t j = call_.a.indptr[r]; j < end; j += chunk_.most)
                add(j, std::min(chunk_.most, end - j));
            if (call_.stage.last) complete();
        }
    }

private:
    void begin(std::int64_t r) {
        row_ = r;
        z_ = row_of<T>(call_.rows.z, r);
        slopes_ = wants_slopes_ ? row_of<T>(call_.rows.slopes, r) : nullptr;
        maxima_ = row_of<T>(call_.rows.maxima, r);
        sums_ = row_of<T>(call_.rows.sums, r);
        slope_sums_ = wants_slopes_ ? row_of<T>(call_.rows.slope_sums, r) : nullptr;
        l_ = row_of<T>(call_.l, r);
        if (!call_.stage.first) return;
        std::fill_n(z_, h_.width, T{0});
        std::fill_n(maxima_, h_.heads, -std::numeric_limits<T>::infinity());
        std::fill_n(sums_, h_.heads, T{0});
        if (!wants_slopes_) return;
        std::fill_n(slopes_, h_.width, T{0});
        std::fill_n(slope_sums_, h_.heads, T{0});
    }

    /// Entries [first, first + count) of the row.
    void add(std::int64_t first, std::int64_t count) {
        const Tag<T> d;
        const Vec<T> slope = hn::Set(d, call_.slope);
        T* const tops = chunk_.of_heads.data();
        T* const scale = tops + h_.heads;
        std::copy_n(maxima_, h_.heads, tops);
        const std::int64_t total = call_.a.indptr[call_.a.rows];
        // e_ij, and the largest so far
        for (std::int64_t e = 0; e < count; ++e) {
            const T* row = row_of<T>(call_.b, call_.a.indices[first + e]);
            chunk_.rows[usize(e)] = row;
            prefetch_row<1>(row, h_.width);
            prefetch_row<2>(row_of<T>(call_.b, call_.a.indices[std::min(first + e + chunk_.most, total - 1)]),
                            call_.b.cols);
            T* const scores = chunk_.compact.data() + e * h_.heads;
            T* const derivatives = chunk_.derivatives.data() + e * h_.heads;
            for_vectors<T>(h_.heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
                const Vec<T> argument = hn::Add(load_n(l_ + k, n), load_n(row + h_.width + k, n)),
                             score = leaky<T>(argument, slope);
                store_n(score, scores + k, n);
                store_n(leaky_derivative<T>(argument, slope), derivatives + k, n);
                store_n(hn::Max(load_n(tops + k, n), score), tops + k, n);
            });
        }
        // What was summed up is of another maximum.
        for (std::int64_t k = 0; k < h_.heads; ++k) scale[k] = std::exp(maxima_[k] - tops[k]);
        for (std::int64_t k = 0; k < h_.heads; ++k) sums_[k] *= scale[k];
        if (wants_slopes_)
            for (std::int64_t k = 0; k < h_.heads; ++k) slope_sums_[k] *= scale[k];
        std::copy_n(tops, h_.heads, maxima_);
        // p_ij = a_ij exp(e_ij − maximum)
        for (std::int64_t e = 0; e < count; ++e) {
            T* const scores = chunk_.compact.data() + e * h_.heads;
            for_vectors<T>(h_.heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
                store_n(hn::Sub(load_n(scores + k, n), load_n(tops + k, n)), scores + k, n);
            });
        }
        exponentials(chunk_.compact.data(), count * h_.heads);
        for (std::int64_t e = 0; e < count; ++e) {
            T* const p = chunk_.compact.data() + e * h_.heads;
            T* const sloped = chunk_.derivatives.data() + e * h_.heads;
            const Vec<T> a = hn::Set(d, call_.a.values[first + e]);
            for_vectors<T>(h_.heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
                const Vec<T> weight = hn::Mul(a, load_n(p + k, n));
                store_n(weight, p + k, n);
                store_n(hn::Add(load_n(sums_ + k, n), weight), sums_ + k, n);
                if (!wants_slopes_) return;
                const Vec<T> with_slope = hn::Mul(weight, load_n(sloped + k, n));
                store_n(with_slope, sloped + k, n);
                store_n(hn::Add(load_n(slope_sums_ + k, n), with_slope), slope_sums_ + k, n);
            });
        }
        dropout_.apply(count, Place{nullptr, row_}, Place{call_.a.indices + first, 0}, chunk_.compact.data(),
                       wants_slopes_ ? chunk_.derivatives.data() : nullptr);
        repeat(h_, scale, 1, chunk_.scale.data());
        repeat(h_, chunk_.compact.data(), count, chunk_.weights.data());
        add_rows(h_, chunk_.rows.data(), chunk_.weights.data(), chunk_.scale.data(), count, z_);
        if (!wants_slopes_) return;
        repeat(h_, chunk_.derivatives.data(), count, chunk_.slopes.data());
        add_rows(h_, chunk_.rows.data(), chunk_.slopes.data(), chunk_.scale.data(), count, slopes_);
    }

    /// Z, P and log Σ_j a_ij exp(e_ij).
    void complete() {
        T* const inverse = chunk_.of_heads.data();
        T* const share = inverse + h_.heads;
        for (std::int64_t k = 0; k < h_.heads; ++k) {
            const bool none = sums_[k] == T{0};
            inverse[k] = none ? T{0} : T{1} / sums_[k];
            maxima_[k] = none ? T{0} : maxima_[k] + std::log(sums_[k]);
            if (wants_slopes_) share[k] = slope_sums_[k] * inverse[k];
        }
        const Tag<T> d;
        repeat(h_, inverse, 1, chunk_.scale.data());
        if (wants_slopes_) repeat(h_, share, 1, chunk_.partial.data());
        std::int64_t at = 0;
        for_vectors<T>(h_.width, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
            const Vec<T> scale = hn::LoadU(d, chunk_.scale.data() + at);
            const Vec<T> z = hn::Mul(load_n(z_ + c, n), scale);
            store_n(z, z_ + c, n);
            if (wants_slopes_) {
                const Vec<T> q = hn::LoadU(d, chunk_.partial.data() + at);
                store_n(hn::NegMulAdd(q, z, hn::Mul(load_n(slopes_ + c, n), scale)), slopes_ + c, n);
            }
            at = at + lanes<T> == h_.period ? 0 : at + lanes<T>;
        });
    }

    const AttendCall<T>& call_;
    HeadLayout h_;
    Chunk<T> chunk_;
    EntryDropout<T> dropout_;
    bool wants_slopes_;
    std::int64_t row_ = 0;
    const T* l_ = nullptr;
    T *z_ = nullptr, *slopes_ = nullptr, *maxima_ = nullptr, *sums_ = nullptr, *slope_sums_ = nullptr;
};

template <class T>
void attend(const AttendCall<T>& call, RowRange rows) {
    RowAttention<T>(call).run(rows);
}

template <class T>
void attend_backward(const AttendBackwardCall<T>& call, RowRange rows) {
    const Tag<T> d;
    const HeadLayout h = HeadLayout::of<T>(call.heads, call.own.cols - call.heads);
    Chunk<T> chunk(h, call.b.cols);
    const Vec<T> slope = hn::Set(d, call.slope);
    const std::int64_t total = call.a.indptr[call.a.rows];
    EntryDropout<T> dropout(call.dropout, call.heads);
    std::vector<T> kept(chunk.compact.size());  // m_ij
    std::fill(chunk.scale.begin(), chunk.scale.end(), T{1});
    for (std::int64_t position = rows.begin; position < rows.end; ++position) {
        const std::int64_t j = call.a.at(position);
        const T* own = row_of<T>(call.own, j);
        const T* r = own + h.width;
        T* dh = row_of<T>(call.c, j);
        T* dr = dh + h.width;
        if (call.stage.first) std::fill_n(dh, h.width + h.heads, T{0});
        const std::int64_t end = call.a.indptr[j + 1];
        for (std::int64_t first = call.a.indptr[j]; first < end; first += chunk.most) {
            const std::int64_t count = std::min(chunk.most, end - first);
            // log α_ij − log a_ij = λ(l_i + r_j) − log Σ, and λ'
            for (std::int64_t e = 0; e < count; ++e) {
                const T* row = row_of<T>(call.b, call.a.indices[first + e]);
                chunk.rows[usize(e)] = row;
                prefetch_row<2>(row_of<T>(call.b, call.a.indices[std::min(first + e + chunk.most, total - 1)]),
                                call.b.cols);
                const T* l = row + h.width;
                for_vectors<T>(h.heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
                    const Vec<T> argument = hn::Add(load_n(l + k, n), load_n(r + k, n));
                    store_n(hn::Sub(leaky<T>(argument, slope), load_n(l + h.heads + k, n)),
                            chunk.compact.data() + e * h.heads + k, n);
                    store_n(leaky_derivative<T>(argument, slope), chunk.derivatives.data() + e * h.heads + k, n);
                });
            }
            exponentials(chunk.compact.data(), count * h.heads);
            std::fill_n(kept.data(), count * h.heads, T{1});
            dropout.apply(count, Place{call.a.indices + first, 0}, Place{nullptr, j}, kept.data(), nullptr);
            for (std::int64_t e = 0; e < count; ++e) {
                T* const alpha = chunk.compact.data() + e * h.heads;
                const T* derivative = chunk.derivatives.data() + e * h.heads;
                const T* m = kept.data() + e * h.heads;
                const T* row = chunk.rows[usize(e)];
                const T* given = row + h.width + 2 * h.heads;  // D_i
                T* const dot = chunk.of_heads.data();
                dots(h, row, own, chunk.partial.data(), dot);
                const Vec<T> a = hn::Set(d, call.a.values[first + e]);
                for_vectors<T>(h.heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
                    const Vec<T> weight = hn::Mul(a, load_n(alpha + k, n)), of_kept = load_n(m + k, n);
                    store_n(hn::Mul(weight, of_kept), alpha + k, n);
                    const Vec<T> de = hn::Mul(hn::Mul(weight, load_n(derivative + k, n)),
                                              hn::MulSub(of_kept, load_n(dot + k, n), load_n(given + k, n)));
                    store_n(hn::Add(load_n(dr + k, n), de), dr + k, n);
                });
            }
            repeat(h, chunk.compact.data(), count, chunk.weights.data());
            add_rows(h, chunk.rows.data(), chunk.weights.data(), chunk.scale.data(), count, dh);
        }
    }
}

template <class T>
void head_dots(const verb::HeadDots& v, RowRange rows) {
    const HeadLayout h = HeadLayout::of<T>(v.out.cols, v.x.cols);
    std::vector<T> partial(usize(h.period));
    for (std::int64_t r = rows.begin; r < rows.end; ++r)
        dots(h, row_of<T>(v.x, r), row_of<T>(v.y, v.y.rows == 1 ? 0 : r), partial.data(), row_of<T>(v.out, r));
}

template <class T>
void head_sums(const verb::HeadSums& v, RowRange rows, double* sums) {
    const Tag<T> d;
    const HeadLayout h = HeadLayout::of<T>(v.s.cols, v.x.cols);
    std::vector<T> factors(usize(h.period)), part(usize(h.width));
    // 256 rows in the element type, then float64: as column sums.
    for (std::int64_t first = rows.begin; first < rows.end; first += 256) {
        std::fill(part.begin(), part.end(), T{0});
        for (std::int64_t r = first; r < std::min(rows.end, first + 256); ++r) {
            repeat(h, row_of<T>(v.s, r), 1, factors.data());
            const T* x = row_of<T>(v.x, r);
            std::int64_t at = 0;
            for_vectors<T>(h.width, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
                const Vec<T> sum = load_n(part.data() + c, n);
                store_n(hn::MulAdd(hn::LoadU(d, factors.data() + at), load_n(x + c, n), sum), part.data() + c, n);
                at = at + lanes<T> == h.period ? 0 : at + lanes<T>;
            });
        }
        for (std::int64_t c = 0; c < h.width; ++c) sums[c] += static_cast<double>(part[usize(c)]);
    }
}

template <class T>
void add_heads(const verb::AddHeads& v, RowRange rows) {
    const Tag<T> d;
    const HeadLayout h = HeadLayout::of<T>(v.s.cols, v.y.cols);
    std::vector<T> factors(usize(h.period));
    const T* a = row_of<T>(v.a, 0);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        repeat(h, row_of<T>(v.s, r), 1, factors.data());
        T* y = row_of<T>(v.y, r);
        std::int64_t at = 0;
        for_vectors<T>(h.width, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
            store_n(hn::MulAdd(hn::LoadU(d, factors.data() + at), load_n(a + c, n), load_n(y + c, n)), y + c, n);
            at = at + lanes<T> == h.period ? 0 : at + lanes<T>;
        });
    }
}

template <class T>
constexpr AttentionOperations<T> operations = {&attend<T>, &attend_backward<T>, &head_dots<T>, &head_sums<T>,
                                               &add_heads<T>};

const AttentionOperations<float>& attention_operations_f32() { return operations<float>; }
const AttentionOperations<double>& attention_operations_f64() { return operations<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(attention_operations_f32);
HWY_EXPORT(attention_operations_f64);

template <>
const AttentionOperations<float>& attention_operations<float>() {
    static const AttentionOperations<float>& chosen = HWY_DYNAMIC_DISPATCH(attention_operations_f32)();
    return chosen;
}
template <>
const AttentionOperations<double>& attention_operations<double>() {
    static const AttentionOperations<double>& chosen = HWY_DYNAMIC_DISPATCH(attention_operations_f64)();
    return chosen;
}
}  // namespace gnnbench::cpu
#endif
