// Included once per instruction set (Highway's way): no #pragma once.
//
// The words of dropout masks: the same numbers as gnnbench::philox. A counter gives the words of four columns of a
// vertex. Rows are drawn several at a time, so that all lanes of a vector have a counter where rows are narrow. A lane is
// 64 bits wide, of which a round reads the low half: what a product leaves above it is never read, and so never cleared.
#if defined(GNNBENCH_CPU_DROPOUT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_DROPOUT_INL
#undef GNNBENCH_CPU_DROPOUT_INL
#else
#define GNNBENCH_CPU_DROPOUT_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <Random123/philox.h>

#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

#include "simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {

/// Masks of some columns for runs of rows.
class MaskWords {
public:
    /// Columns of one draw at most; wider matrices are cut at multiples of it.
    static constexpr std::int64_t most_columns = 1024;

    /// For columns [first, first + count) of the mask's matrix, count ≤ most_columns.
    MaskWords(const DropoutMask& mask, std::int64_t first, std::int64_t count, Draw what = Draw::dropout)
        : skew_((mask.first_column + first) % 4),
          counters_((skew_ + count + 3) / 4),
          rows_(std::max<std::int64_t>(1, most_counters / counters_)),
          stream_(mask.stream()) {
        const auto start = static_cast<std::uint32_t>((mask.first_column + first) / 4);
        for (std::int64_t i = 0; i < rows_ * counters_; ++i)
            columns_[i] = start + static_cast<std::uint32_t>(i % counters_);
        keys_[0] = static_cast<std::uint32_t>(mask.seed);
        keys_[1] = static_cast<std::uint32_t>(mask.seed >> 32) ^ (static_cast<std::uint32_t>(what) * 0x9E3779B9u);
        for (int i = 2; i < 2 * rounds; ++i)
            keys_[i] = static_cast<std::uint32_t>(keys_[i - 2] + (i % 2 ? 0xBB67AE85u : 0x9E3779B9u));
    }

    /// Rows of one draw at most.
    std::int64_t rows() const { return rows_; }
    /// Draws for `count` rows; vertex(i) is that of the i-th.
    template <class Vertex>
    void draw(std::int64_t count, Vertex vertex) {
        for (std::int64_t r = 0; r < count; ++r) {
            const auto v = static_cast<std::uint64_t>(vertex(r));
            broadcast(static_cast<std::uint32_t>(v), low_ + r * counters_);
            broadcast(static_cast<std::uint32_t>(v >> 32), high_ + r * counters_);
        }
        for (std::int64_t i = 0; i < count * counters_; i += step) draw_counters(i);
    }
    /// The words of the r-th row, of column `first` first; a vector may be loaded past its end.
    const std::uint32_t* row(std::int64_t r) const {
        return reinterpret_cast<const std::uint32_t*>(words_) + 4 * r * counters_ + skew_;
    }

private:
    static constexpr int rounds = 10;

    /// A row's counters ← v, by whole vectors: what they write of the next row is written again after them.
    HWY_INLINE void broadcast(std::uint32_t v, std::uint32_t* to) const {
        const VU all = hn::Set(U(), v);
        for (std::int64_t i = 0; i < counters_; i += lanes<std::uint32_t>) hn::StoreU(all, U(), to + i);
    }

    static constexpr std::int64_t most_counters = most_columns / 4 + 1;
#if HWY_TARGET == HWY_SCALAR
    static constexpr std::int64_t step = 1;
    void draw_counters(std::int64_t i) {
        const r123::Philox4x32::ctr_type counter = {{low_[i], high_[i], columns_[i], stream_}};
        const r123::Philox4x32::key_type key = {
            {static_cast<std::uint32_t>(keys_[0]), static_cast<std::uint32_t>(keys_[1])}};
        const auto r = r123::Philox4x32()(counter, key);
        std::memcpy(words_ + 2 * i, &r, sizeof r);
    }
#else
    using Wide = hn::ScalableTag<std::uint64_t>;
    using VW = hn::Vec<Wide>;
    static constexpr std::int64_t step = lanes<std::uint64_t>;

    static HWY_INLINE VW product(VW x, VU by) { return hn::MulEven(hn::BitCast(U(), x), by); }
    /// Low halves of `low`, and those of `high` above them.
    static HWY_INLINE VW halves(VW low, VW high) {
        const VU above = hn::BitCast(U(), hn::ShiftLeft<32>(high));
        return hn::BitCast(Wide(), hn::OddEven(above, hn::BitCast(U(), low)));
    }
    HWY_INLINE void draw_counters(std::int64_t i) {
        const Wide d;
        const hn::Rebind<std::uint32_t, Wide> narrow;
        const VU m0 = hn::Set(U(), 0xD2511F53u), m1 = hn::Set(U(), 0xCD9E8D57u);
        VW x0 = hn::PromoteTo(d, hn::LoadU(narrow, low_ + i)), x1 = hn::PromoteTo(d, hn::LoadU(narrow, high_ + i)),
           x2 = hn::PromoteTo(d, hn::LoadU(narrow, columns_ + i)), x3 = hn::Set(d, std::uint64_t{stream_});
        for (std::ptrdiff_t r = 0; r < rounds; ++r) {
            const VW p0 = product(x0, m0), p1 = product(x2, m1);
            x0 = hn::Xor3(hn::ShiftRight<32>(p1), x1, hn::Set(d, keys_[2 * r]));
            x2 = hn::Xor3(hn::ShiftRight<32>(p0), x3, hn::Set(d, keys_[2 * r + 1]));
            x1 = p1;
            x3 = p0;
        }
        hn::StoreInterleaved2(halves(x0, x1), halves(x2, x3), d, words_ + 2 * i);
    }
#endif

    static constexpr std::int64_t room = most_counters + 16;  ///< what a draw past the last counter writes, too
    std::int64_t skew_, counters_, rows_;                     ///< counters_: of a row
    std::uint32_t stream_;
    std::uint64_t keys_[2 * rounds];                ///< both of each round
    alignas(64) std::uint32_t columns_[room] = {};  ///< of each counter: its column ÷ 4
    alignas(64) std::uint32_t low_[room] = {};      ///< of each counter: the halves of its vertex
    alignas(64) std::uint32_t high_[room] = {};
    alignas(64) std::uint64_t words_[2 * room];  ///< two words of 32 bits each
};

/// v · scale where the word keeps it, else 0: where the word is not below the threshold.
template <class T>
HWY_INLINE Vec<T> dropped(Vec<T> v, const std::uint32_t* word, std::uint32_t threshold, T scale) {
    const Tag<T> d;
    const auto kept = hn::Mul(v, hn::Set(d, scale));
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
        const U du;
        return hn::IfThenZeroElse(hn::RebindMask(d, hn::Lt(hn::LoadU(du, word), hn::Set(du, threshold))), kept);
    } else {
        const hn::RebindToUnsigned<Tag<T>> wide;
        const auto words = hn::PromoteTo(wide, hn::LoadU(hn::Rebind<std::uint32_t, Tag<T>>(), word));
        const auto lost = hn::Lt(words, hn::Set(wide, std::uint64_t{threshold}));
        return hn::IfThenZeroElse(hn::RebindMask(d, lost), kept);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
