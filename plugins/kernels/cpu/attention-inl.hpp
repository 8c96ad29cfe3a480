// Included once per instruction set (Highway's way): no #pragma once.
//
// What attention's walks over rows are made of. Heads are interleaved, so that what an entry has for each head repeats along
// its row: with P the least common multiple of heads and lanes, P numbers are a whole number of vectors, one of which fits
// each vector of the row.
#if defined(GNNBENCH_CPU_ATTENTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_ATTENTION_INL
#undef GNNBENCH_CPU_ATTENTION_INL
#else
#define GNNBENCH_CPU_ATTENTION_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <gnnbench/usize.hpp>

#include "attention.hpp"
#include "dropout-inl.hpp"
#include "exp-inl.hpp"
#include "row_operations.hpp"
#include "simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {

/// Numbers per head, and the same repeated along P columns.
struct HeadLayout {
    std::int64_t heads, width, period;  ///< H, w, P
    template <class T>
    static HeadLayout of(std::int64_t heads, std::int64_t width) {
        return {heads, width, std::lcm(heads, lanes<T>)};
    }
    /// Entries whose rows of `columns` numbers of T fill about half of a first-level cache.
    template <class T>
    std::int64_t chunk(std::int64_t columns) const {
        return std::clamp<std::int64_t>((1 << 14) / (columns * static_cast<std::int64_t>(sizeof(T))), 8, 64);
    }
};

/// to [count × P] ← from [count × H], repeated.
template <class T>
HWY_INLINE void repeat(const HeadLayout& h, const T* from, std::int64_t count, T* to) {
    for (std::int64_t i = 0; i < count; ++i, from += h.heads, to += h.period) {
        if (h.heads == 1) {
            std::fill_n(to, h.period, *from);
            continue;
        }
        for (std::int64_t at = 0; at < h.period; at += h.heads) std::copy_n(from, h.heads, to + at);
    }
}

/// Σ_c x_c y_c of each head; y(c, n) gives a vector of y's n numbers from column c on.
template <class T, class Y>
HWY_INLINE void dots_with(const HeadLayout& h, const T* x, Y&& y, T* HWY_RESTRICT partial, T* out) {
    const Tag<T> d;
    const std::int64_t vectors = h.period / lanes<T>;
    if (vectors == 1) {
        Vec<T> sum = hn::Zero(d);
        for_vectors<T>(h.width, [&](std::int64_t c, std::int64_t n)
                                    HWY_ATTR { sum = hn::MulAdd(load_n(x + c, n), y(c, n), sum); });
        if (h.heads == 1) {
            *out = hn::GetLane(hn::SumOfLanes(d, sum));
            return;
        }
        hn::StoreU(sum, d, partial);
    } else {
        std::fill_n(partial, h.period, T{0});
        std::int64_t at = 0;
        for_vectors<T>(h.width, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
            const Vec<T> sum = hn::LoadU(d, partial + at);
            hn::StoreU(hn::MulAdd(load_n(x + c, n), y(c, n), sum), d, partial + at);
            at = at + lanes<T> == h.period ? 0 : at + lanes<T>;
        });
    }
    std::copy_n(partial, h.heads, out);
    for (std::int64_t at = h.heads; at < h.period; at += h.heads)
        for (std::int64_t k = 0; k < h.heads; ++k) out[k] += partial[at + k];
}

/// x · y of each head, from rows of w numbers.
template <class T>
HWY_INLINE void dots(const HeadLayout& h, const T* x, const T* y, T* HWY_RESTRICT partial, T* out) {
    dots_with(h, x, [&](std::int64_t c, std::int64_t n) HWY_ATTR { return load_n(y + c, n); }, partial, out);
}

/// λ(x) and λ'(x).
template <class T>
HWY_INLINE Vec<T> leaky(Vec<T> x, Vec<T> slope) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(Tag<T>())), x, hn::Mul(x, slope));
}
template <class T>
HWY_INLINE Vec<T> leaky_derivative(Vec<T> x, Vec<T> slope) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(Tag<T>())), hn::Set(Tag<T>(), T{1}), slope);
}

/// NV vectors of columns of `to`, from column `first` on: to ← to · scale + Σ_e weights_e · rows_e. Weights and scale are
/// repeated along P columns. `last` lanes in the last vector.
template <int NV, class T>
HWY_INLINE void add_block(std::int64_t period, const T* const* rows, const T* weights, const T* scale,
                          std::int64_t count, std::int64_t first, std::int64_t last, T* HWY_RESTRICT to) {
    const Tag<T> d;
    std::int64_t place[NV];
    Vec<T> sum[NV];
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) {
        place[k] = (first + k * lanes<T>) % period;
        const std::int64_t n = k + 1 < NV ? lanes<T> : last;
        sum[k] = hn::Mul(load_n(to + first + k * lanes<T>, n), hn::LoadU(d, scale + place[k]));
    }
    for (std::int64_t e = 0; e < count; ++e) {
        const T* row = rows[e] + first;
        const T* weight = weights + e * period;
#pragma GCC unroll 8
        for (int k = 0; k < NV; ++k) {
            const std::int64_t n = k + 1 < NV ? lanes<T> : last;
            sum[k] = hn::MulAdd(hn::LoadU(d, weight + place[k]), load_n(row + k * lanes<T>, n), sum[k]);
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < NV; ++k) store_n(sum[k], to + first + k * lanes<T>, k + 1 < NV ? lanes<T> : last);
}

template <class T>
HWY_INLINE void add_rows(const HeadLayout& h, const T* const* rows, const T* weights, const T* scale,
                         std::int64_t count, T* to) {
    constexpr std::int64_t most = 8, width = lanes<T>;
    for (std::int64_t c = 0; c < h.width; c += most * width) {
        const std::int64_t cols = std::min(most * width, h.width - c), vectors = (cols + width - 1) / width,
                           last = cols - (vectors - 1) * width;
        using Add = void (*)(std::int64_t, const T* const*, const T*, const T*, std::int64_t, std::int64_t,
                             std::int64_t, T*);
        static constexpr Add add[] = {&add_block<1, T>, &add_block<2, T>, &add_block<3, T>, &add_block<4, T>,
                                      &add_block<5, T>, &add_block<6, T>, &add_block<7, T>, &add_block<8, T>};
        add[vectors - 1](h.period, rows, weights, scale, count, c, last, to);
    }
}

/// Room for one chunk of entries.
template <class T>
struct Chunk {
    std::int64_t most;
    std::vector<const T*> rows;
    std::vector<T> compact, derivatives;  ///< [most × H]
    std::vector<T> weights, slopes;       ///< [most × P]
    std::vector<T> scale, partial;        ///< [P]
    std::vector<T> of_heads;              ///< [4 × H]

    Chunk(const HeadLayout& h, std::int64_t columns)
        : most(h.template chunk<T>(columns)),
          rows(usize(most)),
          compact(usize(most * h.heads + lanes<T>)),
          derivatives(compact.size()),
          weights(usize(most * h.period)),
          slopes(weights.size()),
          scale(usize(h.period)),
          partial(usize(h.period)),
          of_heads(usize(4 * h.heads)) {}
};

/// Where the entries of a run stand: all in one row or column, or in those of a list.
struct Place {
    const std::int32_t* list;
    std::int64_t one;
    std::int64_t operator()(std::int64_t e) const { return list ? list[e] : one; }
};

/// Drops entries' coefficients, those of a run of entries at a time.
template <class T>
class EntryDropout {
public:
    EntryDropout(const EntryMask& mask, std::int64_t heads)
        : mask_(mask),
          heads_(heads),
          threshold_(mask.mask.threshold()),
          scale_(static_cast<T>(mask.mask.scale())) {
        if (mask.active()) words_.emplace(mask.mask, 0, heads, Draw::attention);
    }
    /// x [count × H] ← x of the kept, scaled, else 0, and y likewise; row(e) and column(e) say where entry e stands in A.
    HWY_INLINE void apply(std::int64_t count, Place row, Place column, T* x, T* y) {
        if (!words_) return;
        for (std::int64_t first = 0; first < count; first += words_->rows()) {
            const std::int64_t run = std::min(words_->rows(), count - first);
            words_->draw(run, [&](std::int64_t e) {
                return DropoutMask::entry_key(mask_.rows[row(first + e)], mask_.columns[column(first + e)]);
            });
            for (std::int64_t e = 0; e < run; ++e) {
                const std::uint32_t* word = words_->row(e);
                const std::int64_t at = (first + e) * heads_;
                for_vectors<T>(heads_, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
                    store_n(dropped<T>(load_n(x + at + k, n), word + k, threshold_, scale_), x + at + k, n);
                    if (y) store_n(dropped<T>(load_n(y + at + k, n), word + k, threshold_, scale_), y + at + k, n);
                });
            }
        }
    }

private:
    const EntryMask& mask_;
    std::int64_t heads_;
    std::uint32_t threshold_;
    T scale_;
    std::optional<MaskWords> words_;
};

/// x[i] ← exp(x[i]).
template <class T>
HWY_INLINE void exponentials(T* x, std::int64_t count) {
    for_vectors<T>(count, [&](std::int64_t i, std::int64_t n)
                              HWY_ATTR { store_n(exponential<T>(load_n(x + i, n)), x + i, n); });
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#endif
