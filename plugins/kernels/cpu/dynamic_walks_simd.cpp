// Dynamic attention (gnnbench/verbs/dynamic_attention.hpp has the formulas) for the numbers of heads of entries-inl.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dynamic_walks_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gnnbench/usize.hpp>

#include "attention-inl.hpp"
#include "dynamic_attention.hpp"
#include "entries-inl.hpp"
#include "row_walk-inl.hpp"
#include "scores-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Numbers of a chunk of entries.
template <class T, int H>
struct EntryNumbers {
    alignas(64) T all[entries_at_once * H + lanes<T>];
};

/// Room that is needed only where rows take several blocks of columns.
template <class T>
struct BlockSums {
    std::vector<T> scores, dots;
    explicit BlockSums(std::int64_t width)
        : scores(usize(width > most_of_two<T> * lanes<T> ? entries_at_once * lanes<T> : 0)), dots(scores.size()) {}
};

template <class T, int H>
class ForwardWalk {
public:
    explicit ForwardWalk(const DynamicAttendCall<T>& call)
        : call_(call), width_(call.b.cols), dropout_(call.dropout, H), sums_(width_) {}

    /// A row without entries so far.
    void reset(std::int64_t r) {
        if (!call_.stage.first) return;
        std::fill_n(row_of<T>(call_.rows.z, r), width_, T{0});
        std::fill_n(row_of<T>(call_.rows.maxima, r), H, -std::numeric_limits<T>::infinity());
        std::fill_n(row_of<T>(call_.rows.sums, r), H, T{0});
    }
    void begin(std::int64_t r) {
        row_ = r;
        z_ = row_of<T>(call_.rows.z, r);
        top_ = row_of<T>(call_.rows.maxima, r);
        of_sum_ = row_of<T>(call_.rows.sums, r);
        s_ = row_of<T>(call_.s, r);
        sum_ = load_n(of_sum_, H);
    }
    HWY_INLINE void add(const T* const* rows, const std::int32_t* columns, const T* values, std::int64_t count) {
        // Beyond the last entry scores are −∞, which are no maximum and have no weight.
        hn::StoreU(hn::Set(d_, -std::numeric_limits<T>::infinity()), d_, scores_.all + count * H);
        score<H, false>(ScoredEntries<T>{rows, count, 0, row_of<T>(call_.vector, 0), s_, nullptr, call_.slope,
                                         scores_.all, nullptr, sums_.scores.data(), nullptr},
                        width_);
        Vec<T> most = hn::LoadU(d_, scores_.all);
        for (std::int64_t i = lanes<T>; i < count * H; i += lanes<T>)
            most = hn::Max(most, hn::LoadU(d_, scores_.all + i));
        alignas(64) T largest[H], scale[H];
        fold<H, T>(most, largest, [](T a, T b) { return std::max(a, b); });
        for_vectors<T>(H, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
            const Vec<T> before = load_n(top_ + k, n), now = hn::Max(before, load_n(largest + k, n));
            store_n(now, top_ + k, n);
            store_n(exponential<T>(hn::Sub(before, now)), scale + k, n);
        });
        sum_ = hn::Mul(sum_, repeated<H>(d_, scale));
        const Vec<T> top = repeated<H>(d_, top_);
        weigh<H>(
            values, count, weights_.all,
            [&](std::int64_t e, auto&&)
                HWY_ATTR { return exponential<T>(hn::Sub(hn::LoadU(d_, scores_.all + e * H), top)); },
            [&](std::int64_t, auto&&, Vec<T> x) HWY_ATTR { sum_ = hn::Add(sum_, x); });
        dropout_.apply(count, Place{nullptr, row_}, Place{columns, 0}, weights_.all, nullptr);
        add_listed<H, false>(rows, weights_.all, count, call_.slope, Before<T>{false, scale}, width_, z_,
                             static_cast<T*>(nullptr));
    }
    /// What is read or written of a row.
    std::array<ConstMatrixView, 4> touched() const {
        return {call_.s, call_.rows.z, call_.rows.maxima, call_.rows.sums};
    }
    void leave() { fold_sum<H, T>(sum_, of_sum_); }
    void complete(std::int64_t r) {
        if (!call_.stage.last) return;
        T* const top = row_of<T>(call_.rows.maxima, r);
        T* const z = row_of<T>(call_.rows.z, r);
        const T* sum = row_of<T>(call_.rows.sums, r);
        alignas(64) T inverse[H];
        for_vectors<T>(H, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
            const Vec<T> total = load_n(sum + k, n), zero = hn::Zero(d_);
            const auto none = hn::Eq(total, zero);
            store_n(hn::IfThenZeroElse(none, hn::Div(hn::Set(d_, T{1}), total)), inverse + k, n);
            store_n(hn::IfThenZeroElse(none, hn::Add(load_n(top + k, n), logarithm<T>(total))), top + k, n);
        });
        const Vec<T> by = repeated<H>(d_, inverse);
        for_vectors<T>(width_, [&](std::int64_t c, std::int64_t n)
                                   HWY_ATTR { store_n(hn::Mul(load_n(z + c, n), by), z + c, n); });
    }

private:
    static constexpr Tag<T> d_ = {};
    const DynamicAttendCall<T>& call_;
    std::int64_t width_, row_ = 0;
    EntryDropout<T> dropout_;
    BlockSums<T> sums_;
    EntryNumbers<T, H> scores_, weights_;
    Vec<T> sum_;
    const T* s_ = nullptr;
    T *z_ = nullptr, *top_ = nullptr, *of_sum_ = nullptr;
};

template <class T, int H>
class BackwardWalk {
public:
    explicit BackwardWalk(const DynamicBackwardCall<T>& call)
        : call_(call), width_(call.slopes.cols), dropout_(call.dropout, H), sums_(width_) {}

    void reset(std::int64_t r) {
        if (!call_.first) return;
        std::fill_n(row_of<T>(call_.slopes, r), width_, T{0});
        if (!call_.of_rows) std::fill_n(row_of<T>(call_.sums, r), width_, T{0});
    }
    void begin(std::int64_t r) {
        row_ = r;
        own_ = row_of<T>(call_.own, r);
        u_ = row_of<T>(call_.slopes, r);
        z_ = call_.of_rows ? nullptr : row_of<T>(call_.sums, r);
    }
    HWY_INLINE void add(const T* const* rows, const std::int32_t* columns, const T* values, std::int64_t count) {
        const bool of_rows = call_.of_rows;
        // By rows own is [G, s, log Σ, D] and entries have t; by neighbours the other way round.
        const ScoredEntries<T> s{rows,
                                 count,
                                 of_rows ? 0 : width_,
                                 row_of<T>(call_.vector, 0),
                                 of_rows ? own_ + width_ : own_,
                                 own_,
                                 call_.slope,
                                 scores_.all,
                                 dots_.all,
                                 sums_.scores.data(),
                                 sums_.dots.data()};
        score<H, true>(s, width_);
        const auto given = [&](std::int64_t e, auto&& place, int part) HWY_ATTR {
            const std::int64_t at = 2 * width_ + std::int64_t{part} * H;
            if (of_rows) return repeated<H>(d_, own_ + at);
            return side_by_side<H>(d_, [&](std::int64_t i) HWY_ATTR { return rows[place(i)] + at; }, e);
        };
        const bool drops = call_.dropout.active();
        if (drops) {
            std::fill_n(kept_.all, count * H, T{1});
            const Place one{nullptr, row_}, list{columns, 0};
            dropout_.apply(count, of_rows ? one : list, of_rows ? list : one, kept_.all, nullptr);
        }
        // α, then de and m α.
        weigh<H>(
            values, count, weights_.all,
            [&](std::int64_t e, auto&& place) HWY_ATTR {
                return exponential<T>(hn::Sub(hn::LoadU(d_, scores_.all + e * H), given(e, place, 0)));
            },
            [&](std::int64_t e, auto&& place, Vec<T> alpha) HWY_ATTR {
                Vec<T> dot = hn::LoadU(d_, dots_.all + e * H);
                if (drops) dot = hn::Mul(dot, hn::LoadU(d_, kept_.all + e * H));
                hn::StoreU(hn::Mul(alpha, hn::Sub(dot, given(e, place, 1))), d_, scores_.all + e * H);
            });
        for_blocks<T>(width_, [&](auto n, std::int64_t c, std::int64_t last) {
            add_slopes<H, decltype(n)::value>(s, scores_.all, c, last, u_);
        });
        if (!z_) return;
        if (drops)
            for_vectors<T>(count * H, [&](std::int64_t i, std::int64_t n) HWY_ATTR {
                store_n(hn::Mul(load_n(weights_.all + i, n), load_n(kept_.all + i, n)), weights_.all + i, n);
            });
        add_listed<H, false>(rows, weights_.all, count, call_.slope, Before<T>{.none = false}, width_, z_,
                             static_cast<T*>(nullptr));
    }
    std::array<ConstMatrixView, 3> touched() const { return {call_.own, call_.slopes, call_.sums}; }
    void leave() {}
    void complete(std::int64_t) {}

private:
    static constexpr Tag<T> d_ = {};
    const DynamicBackwardCall<T>& call_;
    std::int64_t width_, row_ = 0;
    EntryDropout<T> dropout_;
    BlockSums<T> sums_;
    EntryNumbers<T, H> scores_, dots_, weights_, kept_;
    const T* own_ = nullptr;
    T *u_ = nullptr, *z_ = nullptr;
};

template <class T, class Walk>
void by_rows(const OrderedRows<T>& a, ConstMatrixView b, RowRange rows, Walk&& walk) {
    RowsAhead<T> ahead(a, rows, b);
    EntryRows<T> of;
    const std::int64_t most = entries_of_chunk<T>(b.cols);
    for (std::int64_t position = rows.begin; position < rows.end; ++position) {
        const std::int64_t r = a.at(position), end = a.indptr[r + 1];
        for (const ConstMatrixView m : walk.touched()) ask_for_result(a, position, rows, m);
        walk.reset(r);
        walk.begin(r);
        for (std::int64_t first = a.indptr[r]; first < end; first += most) {
            const std::int64_t count = std::min(most, end - first);
            of.take(a, b, first, count);
            ahead.ask_for(count);
            walk.add(of.rows.data(), a.indices + first, a.values + first, count);
        }
        walk.leave();
        walk.complete(r);
    }
}

/// Of a chunk of a tiled matrix, whose tiles' rows of B stay in the second cache.
template <class T, class Walk>
void by_tiles(const TiledMatrix<T>& a, ConstMatrixView b, std::int64_t chunk, Walk&& walk) {
    constexpr std::int64_t ahead = 8;
    const std::int64_t begin = a.chunk_rows[usize(chunk)], end = a.chunk_rows[usize(chunk) + 1];
    const std::int64_t most = entries_of_chunk<T>(b.cols);
    std::array<const T*, entries_at_once> rows;
    std::array<std::int32_t, entries_at_once> columns;
    for (std::int64_t r = begin; r < end; ++r) walk.reset(r);
    for (std::int64_t i = a.chunk_blocks[usize(chunk)]; i < a.chunk_blocks[usize(chunk) + 1]; ++i) {
        const TileBlock& block = a.blocks[usize(i)];
        const std::int32_t* const column_at = a.column_at.data() + block.tile * a.tile_cols;
        // What is asked for ahead may be of the next tile, and a place there none of this one's.
        const std::int64_t last_place = std::min(a.tile_cols, a.cols - block.tile * a.tile_cols) - 1;
        const std::uint16_t* col = a.local_col.data() + block.first_entry;
        const T* values = a.values.data() + block.first_entry;
        for (std::int64_t s = block.first_segment; s < block.first_segment + block.segments; ++s) {
            walk.begin(begin + a.segments[usize(s)].row);
            for (std::int64_t left = a.segments[usize(s)].length; left > 0;) {
                const std::int64_t count = std::min(left, most);
                for (std::int64_t e = 0; e < count; ++e) {
                    columns[usize(e)] = column_at[col[e]];
                    rows[usize(e)] = row_of<T>(b, columns[usize(e)]);
                    prefetch_row<1>(row_of<T>(b, column_at[std::min<std::int64_t>(col[e + ahead], last_place)]),
                                    b.cols);
                }
                walk.add(rows.data(), columns.data(), values, count);
                col += count;
                values += count;
                left -= count;
            }
            walk.leave();
        }
    }
    for (std::int64_t r = begin; r < end; ++r) walk.complete(r);
}

template <class T>
bool serves(std::int64_t heads, T slope) {
    return slope >= 0 && slope <= 1 && with_heads<T>(heads, [](auto) {});
}
template <class T>
void attend(const DynamicAttendCall<T>& call, RowRange rows) {
    with_heads<T>(call.heads,
                  [&](auto h) { by_rows(call.a, call.b, rows, ForwardWalk<T, decltype(h)::value>(call)); });
}
template <class T>
void backward(const DynamicBackwardCall<T>& call, RowRange rows) {
    with_heads<T>(call.heads,
                  [&](auto h) { by_rows(call.a, call.b, rows, BackwardWalk<T, decltype(h)::value>(call)); });
}
template <class T>
void attend_tiled(const DynamicAttendCall<T>& call, const TiledMatrix<T>& a, std::int64_t chunk) {
    with_heads<T>(call.heads,
                  [&](auto h) { by_tiles(a, call.b, chunk, ForwardWalk<T, decltype(h)::value>(call)); });
}
template <class T>
void backward_tiled(const DynamicBackwardCall<T>& call, const TiledMatrix<T>& a, std::int64_t chunk) {
    with_heads<T>(call.heads,
                  [&](auto h) { by_tiles(a, call.b, chunk, BackwardWalk<T, decltype(h)::value>(call)); });
}

template <class T>
constexpr DynamicWalks<T> walks = {&serves<T>, &attend<T>, &backward<T>, &attend_tiled<T>, &backward_tiled<T>};

const DynamicWalks<float>& dynamic_walks_f32() { return walks<float>; }
const DynamicWalks<double>& dynamic_walks_f64() { return walks<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(dynamic_walks_f32);
HWY_EXPORT(dynamic_walks_f64);

template <>
const DynamicWalks<float>& dynamic_walks<float>() {
    static const DynamicWalks<float>& chosen = HWY_DYNAMIC_DISPATCH(dynamic_walks_f32)();
    return chosen;
}
template <>
const DynamicWalks<double>& dynamic_walks<double>() {
    static const DynamicWalks<double>& chosen = HWY_DYNAMIC_DISPATCH(dynamic_walks_f64)();
    return chosen;
}
}  // namespace gnnbench::cpu
#endif
