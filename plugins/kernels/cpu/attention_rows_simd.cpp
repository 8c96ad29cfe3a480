// Attention by rows, for the numbers of heads of entries-inl.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_rows_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gnnbench/usize.hpp>

#include "attention-inl.hpp"
#include "attention.hpp"
#include "entries-inl.hpp"
#include "row_walk-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// A row's sums over chunks of its entries, of weights that are scaled to the largest score so far.
template <class T, int H, bool Two>
class ForwardRow {
public:
    ForwardRow(const AttendCall<T>& call)
        : call_(call),
          width_(call.rows.z.cols),
          slope_(hn::Set(d_, call.slope)),
          minus_slope_(hn::Set(d_, -call.slope)) {}

    void begin(std::int64_t r) {
        z_ = row_of<T>(call_.rows.z, r);
        maxima_ = row_of<T>(call_.rows.maxima, r);
        of_sums_ = row_of<T>(call_.rows.sums, r);
        if (Two) p_ = row_of<T>(call_.rows.slopes, r), of_slope_sums_ = row_of<T>(call_.rows.slope_sums, r);
        l_ = row_of<T>(call_.l, r);
        none_ = call_.stage.first;
        sum_ = sloped_ = hn::Zero(d_);
        if (none_) {
            std::fill_n(top_, H, -std::numeric_limits<T>::infinity());
            return;
        }
        std::copy_n(maxima_, H, top_);
        sum_ = load_n(of_sums_, H);
        if (Two) sloped_ = load_n(of_slope_sums_, H);
    }

    /// Adds `count` entries; drop(weights) drops coefficients.
    template <class Drop>
    HWY_INLINE void add(const T* const* rows, const T* values, std::int64_t count, T* weights, Drop&& drop) {
        const auto scores = [&](std::int64_t e, auto&& place) HWY_ATTR {
            return side_by_side<H>(d_, [&](std::int64_t at) HWY_ATTR { return rows[place(at)] + width_; }, e);
        };
        // λ is monotone: the largest r has the largest score.
        Vec<T> most = hn::Set(d_, -std::numeric_limits<T>::infinity());
        for (std::int64_t e = 0; e < count; e += per_vector<T, H>)
            most = hn::Max(most, scores(e, [last = count - 1](std::int64_t at) { return std::min(at, last); }));
        alignas(64) T largest[H], scale[H];
        fold<H, T>(most, largest, [](T a, T b) { return std::max(a, b); });
        for_vectors<T>(H, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
            const Vec<T> before = load_n(top_ + k, n),
                         here = leaky<T>(hn::Add(load_n(l_ + k, n), load_n(largest + k, n)), slope_),
                         now = hn::Max(before, here);
            store_n(now, top_ + k, n);
            if (!none_) store_n(exponential<T>(hn::Sub(before, now)), scale + k, n);
        });
        if (!none_) {
            const Vec<T> by = repeated<H>(d_, scale);
            sum_ = hn::Mul(sum_, by);
            sloped_ = hn::Mul(sloped_, by);
        }
        const Vec<T> l = repeated<H>(d_, l_), top = repeated<H>(d_, top_);
        weigh<H>(
            values, count, weights,
            [&](std::int64_t e, auto&& place) HWY_ATTR {
                const Vec<T> argument = hn::Add(l, scores(e, place));
                return with_sign<T>(exponential<T>(hn::Sub(leaky<T>(argument, slope_), top)),
                                    hn::Gt(argument, hn::Zero(d_)));
            },
            [&](std::int64_t, auto&&, Vec<T> x) HWY_ATTR {
                sum_ = hn::Add(sum_, weight_of<T>(x));
                if (Two) sloped_ = hn::Add(sloped_, sloped_of<T>(x, minus_slope_));
            });
        drop(weights);
        add_listed<H, Two>(rows, weights, count, call_.slope, Before<T>{none_, none_ ? nullptr : scale}, width_,
                           z_, p_);
        none_ = false;
    }

    /// What the row has after these entries; Z, P and the logarithm after the last.
    void end() {
        if (none_) {
            std::fill_n(z_, width_, T{0});
            if (Two) std::fill_n(p_, width_, T{0});
        }
        alignas(64) T sum[H], sloped[H], inverse[H], share[H];
        fold_sum<H, T>(sum_, sum);
        if (Two) fold_sum<H, T>(sloped_, sloped);
        if (call_.stage.last) {
            for_vectors<T>(H, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
                const Vec<T> total = load_n(sum + k, n), zero = hn::Zero(d_);
                const auto none = hn::Eq(total, zero);
                const Vec<T> reciprocal = hn::IfThenZeroElse(none, hn::Div(hn::Set(d_, T{1}), total));
                store_n(reciprocal, inverse + k, n);
                if (Two) store_n(hn::Mul(load_n(sloped + k, n), reciprocal), share + k, n);
                const Vec<T> log_sum = hn::Add(load_n(top_ + k, n), logarithm<T>(total));
                store_n(hn::IfThenZeroElse(none, log_sum), top_ + k, n);
            });
            const Vec<T> by = repeated<H>(d_, inverse), q = Two ? repeated<H>(d_, share) : by;
            for_vectors<T>(width_, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
                const Vec<T> z = hn::Mul(load_n(z_ + c, n), by);
                store_n(z, z_ + c, n);
                if (Two) store_n(hn::NegMulAdd(q, z, hn::Mul(load_n(p_ + c, n), by)), p_ + c, n);
            });
        }
        std::copy_n(top_, H, maxima_);
        std::copy_n(sum, H, of_sums_);
        if (Two) std::copy_n(sloped, H, of_slope_sums_);
    }

private:
    static constexpr Tag<T> d_ = {};
    const AttendCall<T>& call_;
    std::int64_t width_;
    Vec<T> slope_, minus_slope_, sum_, sloped_;
    bool none_ = true;  ///< nothing is summed up yet
    const T* l_ = nullptr;
    T *z_ = nullptr, *p_ = nullptr, *maxima_ = nullptr, *of_sums_ = nullptr, *of_slope_sums_ = nullptr;
    alignas(64) T top_[H];
};

template <class T, int H, bool Two>
void attend_rows(const AttendCall<T>& call, RowRange rows) {
    ForwardRow<T, H, Two> row(call);
    EntryDropout<T> dropout(call.dropout, H);
    RowsAhead<T> ahead(call.a, rows, call.b);
    EntryRows<T> of;
    alignas(64) T weights[entries_at_once * H + lanes<T>];
    const std::int64_t most = entries_of_chunk<T>(call.b.cols);
    for (std::int64_t position = rows.begin; position < rows.end; ++position) {
        const std::int64_t r = call.a.at(position), end = call.a.indptr[r + 1];
        for (const ConstMatrixView m :
             {ConstMatrixView(call.rows.z), ConstMatrixView(call.rows.slopes), ConstMatrixView(call.rows.maxima),
              ConstMatrixView(call.rows.sums), ConstMatrixView(call.rows.slope_sums), call.l})
            ask_for_result(call.a, position, rows, m);
        row.begin(r);
        for (std::int64_t first = call.a.indptr[r]; first < end; first += most) {
            const std::int64_t count = std::min(most, end - first);
            of.take(call.a, call.b, first, count);
            ahead.ask_for(count);
            row.add(of.rows.data(), call.a.values + first, count, weights, [&](T* x) {
                dropout.apply(count, Place{nullptr, r}, Place{call.a.indices + first, 0}, x, nullptr);
            });
        }
        row.end();
    }
}

/// By column j: dh_j = Σ_i m α G_i, and dr_j = ⟨Σ_i m α λ' G_i, h_j⟩ − Σ_i α λ' D_i.
template <class T, int H>
void attend_backward_rows(const AttendBackwardCall<T>& call, RowRange rows) {
    const Tag<T> d;
    const std::int64_t width = call.own.cols - H, most = entries_of_chunk<T>(call.b.cols);
    const Vec<T> slope = hn::Set(d, call.slope), minus_slope = hn::Set(d, -call.slope);
    EntryDropout<T> dropout(call.dropout, H);
    RowsAhead<T> ahead(call.a, rows, call.b);
    EntryRows<T> of;
    alignas(64) T weights[entries_at_once * H + lanes<T>];
    std::vector<T> sloped(usize(width + lanes<T>));
    for (std::int64_t position = rows.begin; position < rows.end; ++position) {
        const std::int64_t j = call.a.at(position), begin = call.a.indptr[j], end = call.a.indptr[j + 1];
        ask_for_result(call.a, position, rows, call.c);
        ask_for_result(call.a, position, rows, call.own);
        const T* own = row_of<T>(call.own, j);
        const Vec<T> r = repeated<H>(d, own + width);
        T* const dh = row_of<T>(call.c, j);
        T* const dr = dh + width;
        if (call.stage.first && begin == end) std::fill_n(dh, width + H, T{0});
        if (begin == end) continue;
        Vec<T> given = hn::Zero(d);
        for (std::int64_t first = begin; first < end; first += most) {
            const std::int64_t count = std::min(most, end - first);
            of.take(call.a, call.b, first, count);
            ahead.ask_for(count);
            const auto numbers = [&](std::int64_t e, auto&& place, int part) HWY_ATTR {
                return side_by_side<H>(
                    d, [&](std::int64_t at) HWY_ATTR { return of.rows[usize(place(at))] + width + part * H; }, e);
            };
            weigh<H>(
                call.a.values + first, count, weights,
                [&](std::int64_t e, auto&& place) HWY_ATTR {
                    const Vec<T> argument = hn::Add(numbers(e, place, 0), r);
                    return with_sign<T>(exponential<T>(hn::Sub(leaky<T>(argument, slope), numbers(e, place, 1))),
                                        hn::Gt(argument, hn::Zero(d)));
                },
                [&](std::int64_t e, auto&& place, Vec<T> x)
                    HWY_ATTR { given = hn::MulAdd(sloped_of<T>(x, minus_slope), numbers(e, place, 2), given); });
            dropout.apply(count, Place{call.a.indices + first, 0}, Place{nullptr, j}, weights, nullptr);
            if (first == begin) {
                // dh may hold earlier stages' sums; those with slopes are of this one.
                std::fill(sloped.begin(), sloped.end(), T{0});
                if (call.stage.first) std::fill_n(dh, width, T{0});
            }
            add_listed<H, true>(of.rows.data(), weights, count, call.slope, Before<T>{.none = false}, width, dh,
                                sloped.data());
        }
        Vec<T> dots = hn::Neg(given);
        for_vectors<T>(width, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
            dots = hn::MulAdd(load_n(sloped.data() + c, n), load_n(own + c, n), dots);
        });
        T of_heads[H];
        fold_sum<H, T>(dots, of_heads);
        for (int k = 0; k < H; ++k) dr[k] = call.stage.first ? of_heads[k] : dr[k] + of_heads[k];
    }
}

template <class T>
bool suits(T slope) {
    return slope >= 0 && slope <= 1;
}

template <class T>
bool attend(const AttendCall<T>& call, RowRange rows) {
    return suits(call.slope) && with_heads<T>(call.heads, [&](auto h) {
               constexpr int H = decltype(h)::value;
               call.rows.slopes.cols > 0 ? attend_rows<T, H, true>(call, rows)
                                         : attend_rows<T, H, false>(call, rows);
           });
}

template <class T>
bool attend_backward(const AttendBackwardCall<T>& call, RowRange rows) {
    return suits(call.slope) &&
           with_heads<T>(call.heads, [&](auto h) { attend_backward_rows<T, decltype(h)::value>(call, rows); });
}

template <class T>
constexpr RowAttentionOperations<T> operations = {&attend<T>, &attend_backward<T>};

const RowAttentionOperations<float>& row_attention_f32() { return operations<float>; }
const RowAttentionOperations<double>& row_attention_f64() { return operations<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(row_attention_f32);
HWY_EXPORT(row_attention_f64);

template <>
const RowAttentionOperations<float>& row_attention_operations<float>() {
    static const RowAttentionOperations<float>& chosen = HWY_DYNAMIC_DISPATCH(row_attention_f32)();
    return chosen;
}
template <>
const RowAttentionOperations<double>& row_attention_operations<double>() {
    static const RowAttentionOperations<double>& chosen = HWY_DYNAMIC_DISPATCH(row_attention_f64)();
    return chosen;
}
}  // namespace gnnbench::cpu
#endif
