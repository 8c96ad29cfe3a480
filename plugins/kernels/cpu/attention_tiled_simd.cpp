// Attention over a tiled matrix (attention_tiled.hpp has the formulas).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_tiled_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gnnbench/usize.hpp>

#include "attention-inl.hpp"
#include "attention_tiled.hpp"
#include "entries-inl.hpp"
#include "stretch-inl.hpp"
#include "tile_walk-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T, int H, AttentionSums Sums, bool Exact>
void add_block(const TiledPass<T>& pass, std::int64_t chunk, const TileBlock& block, const TileBlock& after,
               TileDropout<T>& dropout, const T* own, T* room) {
    constexpr bool backward = Sums == AttentionSums::backward, two = Sums != AttentionSums::forward_without_slopes;
    constexpr std::int64_t ahead = 4;
    const TiledMatrix<T>& a = pass.a;
    const std::int64_t width = pass.panel.width, stride = room_of_row(pass);
    const std::int64_t here = block.tile * a.tile_cols, next = after.tile * a.tile_cols,
                       next_cols = std::min(a.tile_cols, a.cols - next);
    const T* const table = pass.table + here * 4 * H;
    const T* const rows = pass.packed + here * width;
    const AddPanel<H, two, T> add(width);
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    Stretch next_rows(pass.packed + next * width, next_cols * width * bytes, block.segments),
        next_table(pass.table + next * 4 * H, next_cols * 4 * H * bytes, block.segments);
    alignas(64) T weights[entries_at_once * H + lanes<T>];
    const Segment* segment = a.segments.data() + block.first_segment;
    const Segment* const end = segment + block.segments;
    const std::uint16_t* col = a.local_col.data() + block.first_entry;
    const T* values = a.values.data() + block.first_entry;
    for (; segment < end; ++segment) {
        next_rows.prefetch_some();
        next_table.prefetch_some();
        T* const coming = room + segment[ahead].row * stride;
        const T* const coming_own = own + segment[ahead].row * 4 * H;
        for (std::int64_t c = 0; c < stride; c += 64 / bytes) __builtin_prefetch(coming + c, 1, 3);
        prefetch_to_read<(std::int64_t{4} * H * bytes + 63) / 64>(coming_own);
        const SumsOfRow<T> sums = sums_at(pass, room + segment->row * stride);
        const TileWeights<H, backward, Exact, T> made(pass, table, own + segment->row * 4 * H);
        for (std::int64_t left = segment->length; left > 0;) {
            const std::int64_t count = std::min(left, entries_at_once);
            made.make(col, values, count, weights, sums.small);
            dropout.apply(block.tile, col, a.chunk_rows[usize(chunk)] + segment->row, count, weights);
            add(rows, col, weights, count, pass.slope, sums.z, sums.p);
            col += count;
            values += count;
            left -= count;
        }
    }
}

/// What a chunk's rows have of their own: [rows × 4H].
template <class T>
void make_own(const TiledPass<T>& pass, RowRange rows, T* own) {
    const Tag<T> d;
    const std::int64_t heads = pass.heads;
    const bool backward = pass.sums == AttentionSums::backward;
    const Vec<T> slope = hn::Set(d, pass.slope);
    for (std::int64_t r = rows.begin; r < rows.end; ++r, own += 4 * heads) {
        const T* mine = row_of<T>(pass.own, r) + (backward ? pass.own.cols - heads : 0);
        const T* tops = pass.row_tops ? pass.row_tops + r * heads : pass.tops;
        for_vectors<T>(heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
            const Vec<T> x = load_n(mine + k, n), top = load_n(pass.tops + k, n);
            store_n(hn::Neg(x), own + k, n);
            if (backward) {
                const Vec<T> apart = hn::Sub(x, top);
                store_n(exponential<T>(apart), own + heads + k, n);
                store_n(exponential<T>(hn::Mul(slope, apart)), own + 2 * heads + k, n);
                return;
            }
            const Vec<T> m = leaky<T>(hn::Add(x, load_n(tops + k, n)), slope), largest = hn::Add(x, top);
            store_n(exponential<T>(hn::Sub(largest, m)), own + heads + k, n);
            store_n(exponential<T>(hn::Sub(hn::Mul(slope, largest), m)), own + 2 * heads + k, n);
            store_n(m, own + 3 * heads + k, n);
        });
    }
}

/// Z's and P's columns of the panel, and in the last panel what a row has beside them.
template <class T, int H>
void finish_forward(const TiledPass<T>& pass, std::int64_t r, const SumsOfRow<T>& made, const T* m_here) {
    const Tag<T> d;
    const bool two = pass.sums == AttentionSums::forward, first = pass.stage.first;
    alignas(64) T sum[H], sloped[H], old_scale[H], scale[H], top[H], share[H];
    fold_sum<H, T>(hn::LoadU(d, made.small), sum);
    fold_sum<H, T>(hn::LoadU(d, made.small + lanes<T>), sloped);
    T* const maxima = row_of<T>(pass.rows.maxima, r);
    T* const sums = row_of<T>(pass.rows.sums, r);
    T* const slope_sums = two ? row_of<T>(pass.rows.slope_sums, r) : nullptr;
    for (int k = 0; k < H; ++k) {
        const T before = first ? -std::numeric_limits<T>::infinity() : maxima[k];
        const bool none = sum[k] == T{0};
        top[k] = none ? before : std::max(before, m_here[k]);
        old_scale[k] = first ? T{0} : none ? T{1} : std::exp(before - top[k]);
        scale[k] = none ? T{0} : first ? T{1} : std::exp(m_here[k] - top[k]);
        sum[k] *= scale[k];
        sloped[k] *= scale[k];
        if (!first) {
            sum[k] += old_scale[k] * sums[k];
            if (two) sloped[k] += old_scale[k] * slope_sums[k];
        }
        share[k] = 0;
        if (!pass.stage.last) continue;
        const T inverse = sum[k] == T{0} ? T{0} : T{1} / sum[k];
        old_scale[k] *= inverse;
        scale[k] *= inverse;
        share[k] = sloped[k] * inverse;
    }
    const Vec<T> by_old = repeated<H>(d, old_scale), by = repeated<H>(d, scale), q = repeated<H>(d, share);
    T* const z = row_of<T>(pass.rows.z, r) + pass.panel.first;
    T* const p = two ? row_of<T>(pass.rows.slopes, r) + pass.panel.first : nullptr;
    for_vectors<T>(pass.panel.count, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        const auto total = [&](const T* here, const T* before) HWY_ATTR {
            const Vec<T> of_here = hn::Mul(by, hn::LoadU(d, here + c));
            return first ? of_here : hn::MulAdd(by_old, load_n(before + c, n), of_here);
        };
        const Vec<T> of_z = total(made.z, z);
        store_n(of_z, z + c, n);
        if (two) store_n(hn::NegMulAdd(q, of_z, total(made.p, p)), p + c, n);
    });
    if (!pass.last_panel) return;
    if (pass.stage.last)
        for_vectors<T>(H, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
            const Vec<T> of_sum = load_n(sum + k, n), log_sum = hn::Add(load_n(top + k, n), logarithm<T>(of_sum));
            store_n(hn::IfThenZeroElse(hn::Eq(of_sum, hn::Zero(d)), log_sum), top + k, n);
        });
    std::copy_n(top, H, maxima);
    std::copy_n(sum, H, sums);
    if (two) std::copy_n(sloped, H, slope_sums);
}

template <class T, int H>
void finish_backward(const TiledPass<T>& pass, std::int64_t r, const SumsOfRow<T>& made) {
    const Tag<T> d;
    const std::int64_t width = pass.c.cols - H;
    const T* h = row_of<T>(pass.own, r) + pass.panel.first;
    T* const dh = row_of<T>(pass.c, r) + pass.panel.first;
    T* const dr = row_of<T>(pass.c, r) + width;
    // Each panel has its part of ⟨·, h_j⟩; what is taken off it is the first's.
    const bool first_panel = pass.panel.first == 0, overwrite = pass.stage.first;
    Vec<T> dots = first_panel ? hn::Neg(hn::LoadU(d, made.small + lanes<T>)) : hn::Zero(d);
    for_vectors<T>(pass.panel.count, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        dots = hn::MulAdd(hn::LoadU(d, made.p + c), load_n(h + c, n), dots);
        const Vec<T> sum = hn::LoadU(d, made.z + c);
        store_n(overwrite ? sum : hn::Add(load_n(dh + c, n), sum), dh + c, n);
    });
    T of_heads[H];
    fold_sum<H, T>(dots, of_heads);
    for (int k = 0; k < H; ++k) dr[k] = overwrite && first_panel ? of_heads[k] : dr[k] + of_heads[k];
}

template <class T, int H, AttentionSums Sums, bool Exact>
void run_chunk(const TiledPass<T>& pass, std::int64_t chunk, T* room) {
    const TiledMatrix<T>& a = pass.a;
    const auto k = usize(chunk);
    const RowRange rows{a.chunk_rows[k], a.chunk_rows[k + 1]};
    const std::int64_t count = rows.end - rows.begin, stride = room_of_row(pass);
    T* const own = room + count * stride;
    make_own(pass, rows, own);
    std::fill_n(room, count * stride, T{0});
    TileDropout<T> dropout(pass);
    const std::int64_t first = a.chunk_blocks[k], end = a.chunk_blocks[k + 1];
    for (std::int64_t i = first; i < end; ++i)
        // The chunk that this thread takes next most likely begins with the tile with which this one began.
        add_block<T, H, Sums, Exact>(pass, chunk, a.blocks[usize(i)], a.blocks[usize(i + 1 < end ? i + 1 : first)],
                                     dropout, own, room);
    for (std::int64_t r = 0; r < count; ++r) {
        const SumsOfRow<T> made = sums_at(pass, room + r * stride);
        if constexpr (Sums == AttentionSums::backward)
            finish_backward<T, H>(pass, rows.begin + r, made);
        else
            finish_forward<T, H>(pass, rows.begin + r, made, own + r * 4 * H + 3 * H);
    }
}

template <class T>
void chunk(const TiledPass<T>& pass, std::int64_t k, T* room) {
    with_heads<T>(pass.heads, [&](auto h) {
        constexpr int H = decltype(h)::value;
        const auto run = [&]<AttentionSums Sums>() {
            pass.exact ? run_chunk<T, H, Sums, true>(pass, k, room) : run_chunk<T, H, Sums, false>(pass, k, room);
        };
        switch (pass.sums) {
            case AttentionSums::forward:
                return run.template operator()<AttentionSums::forward>();
            case AttentionSums::forward_without_slopes:
                return run.template operator()<AttentionSums::forward_without_slopes>();
            case AttentionSums::backward:
                return run.template operator()<AttentionSums::backward>();
        }
    });
}

template <class T>
std::int64_t room(const TiledPass<T>& pass) {
    return room_of_row(pass) + 4 * pass.heads;
}

template <class T>
bool serves(std::int64_t heads) {
    return with_heads<T>(heads, [](auto) {});
}

template <class T>
void extremes(ConstMatrixView scores, RowRange rows, T* out) {
    const std::int64_t heads = scores.cols;
    if (rows.begin < rows.end)
        for (int side = 0; side < 2; ++side) std::copy_n(row_of<T>(scores, rows.begin), heads, out + side * heads);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const T* row = row_of<T>(scores, r);
        for_vectors<T>(heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
            const Vec<T> x = load_n(row + k, n);
            store_n(hn::Min(load_n(out + k, n), x), out + k, n);
            store_n(hn::Max(load_n(out + heads + k, n), x), out + heads + k, n);
        });
    }
}

template <class T>
void table(const TiledPass<T>& pass, ConstMatrixView b, RowRange positions, T* out) {
    const Tag<T> d;
    const std::int64_t heads = pass.heads;
    const bool backward = pass.sums == AttentionSums::backward;
    const std::int64_t width = b.cols - (backward ? 3 : 1) * heads;
    const Vec<T> slope = hn::Set(d, pass.slope);
    for (std::int64_t p = positions.begin; p < positions.end; ++p) {
        const std::int64_t ahead = std::min(p + 16, positions.end - 1);
        __builtin_prefetch(row_of<T>(b, pass.a.column_at[usize(ahead)]) + width);
        const T* score = row_of<T>(b, pass.a.column_at[usize(p)]) + width;
        T* const to = out + p * 4 * heads;
        for_vectors<T>(heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
            const Vec<T> x = load_n(score + k, n), top = load_n(pass.tops + k, n);
            store_n(x, to + k, n);
            if (!backward) {
                const Vec<T> apart = hn::Sub(x, top);
                store_n(exponential<T>(apart), to + heads + k, n);
                store_n(exponential<T>(hn::Mul(slope, apart)), to + 2 * heads + k, n);
                store_n(hn::Zero(d), to + 3 * heads + k, n);
                return;
            }
            const Vec<T> log_sum = load_n(score + heads + k, n), largest = hn::Add(x, top);
            store_n(pass.exact ? log_sum : exponential<T>(hn::Sub(largest, log_sum)), to + heads + k, n);
            store_n(exponential<T>(hn::Sub(hn::Mul(slope, largest), log_sum)), to + 2 * heads + k, n);
            store_n(load_n(score + 2 * heads + k, n), to + 3 * heads + k, n);
        });
    }
}

template <class T>
void row_tops(const TiledPass<T>& pass, std::int64_t chunk, T* out) {
    const TiledMatrix<T>& a = pass.a;
    const std::int64_t heads = pass.heads, first = a.chunk_rows[usize(chunk)];
    std::fill(out + first * heads, out + a.chunk_rows[usize(chunk) + 1] * heads,
              -std::numeric_limits<T>::infinity());
    for (std::int64_t i = a.chunk_blocks[usize(chunk)]; i < a.chunk_blocks[usize(chunk) + 1]; ++i) {
        const TileBlock& block = a.blocks[usize(i)];
        const T* const tile = pass.table + block.tile * a.tile_cols * 4 * heads;
        const std::uint16_t* col = a.local_col.data() + block.first_entry;
        for (std::int64_t s = block.first_segment; s < block.first_segment + block.segments; ++s) {
            T* const top = out + (first + a.segments[usize(s)].row) * heads;
            for (std::int64_t e = 0; e < a.segments[usize(s)].length; ++e, ++col) {
                const T* score = tile + *col * (4 * heads);
                for_vectors<T>(heads, [&](std::int64_t k, std::int64_t n) HWY_ATTR {
                    store_n(hn::Max(load_n(top + k, n), load_n(score + k, n)), top + k, n);
                });
            }
        }
    }
}

template <class T>
constexpr TiledAttentionOperations<T> operations = {&serves<T>,   &extremes<T>, &table<T>,
                                                    &row_tops<T>, &room<T>,     &chunk<T>};

const TiledAttentionOperations<float>& tiled_attention_f32() { return operations<float>; }
const TiledAttentionOperations<double>& tiled_attention_f64() { return operations<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(tiled_attention_f32);
HWY_EXPORT(tiled_attention_f64);

template <>
const TiledAttentionOperations<float>& tiled_attention_operations<float>() {
    static const TiledAttentionOperations<float>& chosen = HWY_DYNAMIC_DISPATCH(tiled_attention_f32)();
    return chosen;
}
template <>
const TiledAttentionOperations<double>& tiled_attention_operations<double>() {
    static const TiledAttentionOperations<double>& chosen = HWY_DYNAMIC_DISPATCH(tiled_attention_f64)();
    return chosen;
}
}  // namespace gnnbench::cpu
#endif
