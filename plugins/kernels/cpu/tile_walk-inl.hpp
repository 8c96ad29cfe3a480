// Included once per instruction set (Highway's way): no #pragma once.
//
// What attention's walks over tiles (attention_tiled_simd.cpp) are made of: sums of a panel's rows, and the weights of a tile's
// entries.
#if defined(GNNBENCH_CPU_TILE_WALK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_TILE_WALK_INL
#undef GNNBENCH_CPU_TILE_WALK_INL
#else
#define GNNBENCH_CPU_TILE_WALK_INL
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <gnnbench/usize.hpp>

#include "attention-inl.hpp"
#include "attention_tiled.hpp"
#include "entries-inl.hpp"
#include "stretch-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {

/// Rows of a tile of B's panel, asked for some entries before they are read. `width` numbers apart.
template <class T, int NV>
struct RowsOfTile {
    const T* rows;
    const std::uint16_t* col;
    std::int64_t width;
    static constexpr std::int64_t ahead = 16;
    HWY_INLINE const T* operator()(std::int64_t e) const {
        constexpr int lines = static_cast<int>((NV * lanes<T> * sizeof(T) + 63) / 64);
        if constexpr (sizeof(T) == 4) prefetch_to_read<lines>(rows + col[e + ahead] * width);
        return rows + col[e] * width;
    }
};

/// Some vectors of columns of a panel.
template <class T>
using AddTile = void (*)(const T* rows, const std::uint16_t* col, std::int64_t width, const T* weights,
                         std::int64_t count, T slope, T* z, T* p);
template <int H, int NV, bool Two, class T>
void add_tile(const T* rows, const std::uint16_t* col, std::int64_t width, const T* weights, std::int64_t count,
              T slope, T* z, T* p) {
    add_entries<H, NV, Two>(RowsOfTile<T, NV>{rows, col, width}, weights, count, slope, Before<T>{.none = false},
                            lanes<T>, z, p);
}
/// A whole panel, in as many parts as registers take.
template <int H, bool Two, class T>
class AddPanel {
public:
    explicit AddPanel(std::int64_t width) : width_(width) {
        static constexpr auto add = by_vectors(std::make_integer_sequence<int, most_of_two<T>>());
        const std::int64_t vectors = width / lanes<T>;
        at_once_ = std::min<std::int64_t>(vectors, most_of_two<T>);
        whole_ = add[at_once_ - 1];
        rest_ = vectors % at_once_ ? add[vectors % at_once_ - 1] : nullptr;
    }
    HWY_INLINE void operator()(const T* rows, const std::uint16_t* col, const T* weights, std::int64_t count,
                               T slope, T* z, T* p) const {
        const std::int64_t step = at_once_ * lanes<T>;
        std::int64_t c = 0;
        for (; c + step <= width_; c += step) whole_(rows + c, col, width_, weights, count, slope, z + c, p + c);
        if (rest_) rest_(rows + c, col, width_, weights, count, slope, z + c, p + c);
    }

private:
    /// By the number of vectors, less one.
    template <int... Fewer>
    static constexpr std::array<AddTile<T>, sizeof...(Fewer)> by_vectors(std::integer_sequence<int, Fewer...>) {
        return {&add_tile<H, Fewer + 1, Two, T>...};
    }

    std::int64_t width_, at_once_;
    AddTile<T> whole_, rest_;
};

/// A row of a chunk, while its sums are made: z [panel], p [panel] where wanted, then a vector of Σ p and one of Σ p λ' (backward
/// of D), heads again and again.
template <class T>
struct SumsOfRow {
    T *z, *p, *small;
};
template <class T>
std::int64_t room_of_row(const TiledPass<T>& pass) {
    return pass.panel.width * (pass.sums == AttentionSums::forward_without_slopes ? 1 : 2) + 2 * lanes<T>;
}
template <class T>
SumsOfRow<T> sums_at(const TiledPass<T>& pass, T* row) {
    const bool two = pass.sums != AttentionSums::forward_without_slopes;
    T* const p = row + pass.panel.width;
    return {row, p, two ? p + pass.panel.width : p};
}

/// What weights take of their row: −l, E¹, E², m; backward −r, E¹, E².
template <int H, bool Backward, bool Exact, class T>
class TileWeights {
public:
    TileWeights(const TiledPass<T>& pass, const T* table, const T* own)
        : table_(table),
          slope_(hn::Set(d_, pass.slope)),
          minus_slope_(hn::Set(d_, -pass.slope)),
          minus_own_(repeated<H>(d_, own)),
          first_(repeated<H>(d_, own + H)),
          second_(repeated<H>(d_, own + 2 * H)),
          reference_(repeated<H>(d_, own + 3 * H)) {}

    /// weights ← those of `count` entries; adds to both small sums.
    HWY_INLINE void make(const std::uint16_t* col, const T* values, std::int64_t count, T* weights,
                         T* small) const {
        constexpr int lines = static_cast<int>((std::size_t{4} * H * sizeof(T) + 63) / 64);
        for (std::int64_t e = 0; e < count; ++e) prefetch_to_read<lines>(table_ + col[e + ahead] * (4 * H));
        Vec<T> sum = hn::LoadU(d_, small), sloped = hn::LoadU(d_, small + lanes<T>);
        const auto entries = [&](std::int64_t e, auto&& place, int part) HWY_ATTR {
            return side_by_side<H>(
                d_, [&](std::int64_t at) HWY_ATTR { return table_ + col[place(at)] * (4 * H) + part * H; }, e);
        };
        weigh<H>(
            values, count, weights,
            [&](std::int64_t e, auto&& place) HWY_ATTR {
                const Vec<T> score = entries(e, place, 0);
                const auto positive = hn::Gt(score, minus_own_);
                if constexpr (Exact) {
                    const Vec<T> top = Backward ? entries(e, place, 1) : reference_;
                    const Vec<T> argument = hn::Sub(score, minus_own_);
                    return with_sign<T>(exponential<T>(hn::Sub(leaky<T>(argument, slope_), top)), positive);
                }
                const Vec<T> p = hn::IfThenElse(positive, hn::Mul(first_, entries(e, place, 1)),
                                                hn::Mul(second_, entries(e, place, 2)));
                return with_sign<T>(p, positive);
            },
            [&](std::int64_t e, auto&& place, Vec<T> x) HWY_ATTR {
                if constexpr (Backward) {
                    sloped = hn::MulAdd(sloped_of<T>(x, minus_slope_), entries(e, place, 3), sloped);
                } else {
                    sum = hn::Add(sum, weight_of<T>(x));
                    sloped = hn::Add(sloped, sloped_of<T>(x, minus_slope_));
                }
            });
        if (!Backward) hn::StoreU(sum, d_, small);
        hn::StoreU(sloped, d_, small + lanes<T>);
    }

private:
    static constexpr std::int64_t ahead = 24;
    static constexpr Tag<T> d_ = {};
    const T* table_;
    Vec<T> slope_, minus_slope_, minus_own_, first_, second_, reference_;
};

/// Drops the coefficients of a tile's entries.
template <class T>
class TileDropout {
public:
    TileDropout(const TiledPass<T>& pass)
        : pass_(pass), dropout_(pass.dropout, pass.heads), columns_(usize(entries_at_once)) {}
    HWY_INLINE void apply(std::int64_t tile, const std::uint16_t* col, std::int64_t row, std::int64_t count,
                          T* weights) {
        if (!pass_.dropout.active()) return;
        const std::int32_t* column_at = pass_.a.column_at.data() + tile * pass_.a.tile_cols;
        for (std::int64_t e = 0; e < count; ++e) columns_[usize(e)] = column_at[col[e]];
        const Place one{nullptr, row}, list{columns_.data(), 0};
        const bool backward = pass_.sums == AttentionSums::backward;
        dropout_.apply(count, backward ? list : one, backward ? one : list, weights, nullptr);
    }

private:
    const TiledPass<T>& pass_;
    EntryDropout<T> dropout_;
    std::vector<std::int32_t> columns_;
};

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
