// Included once per instruction set (Highway's way): no #pragma once.
#if defined(GNNBENCH_CPU_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GNNBENCH_CPU_SIMD_INL
#undef GNNBENCH_CPU_SIMD_INL
#else
#define GNNBENCH_CPU_SIMD_INL
#endif

#include <cstdint>

#include <Random123/philox.h>
#include <hwy/highway.h>

#include <gnnbench/model.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// T is float or double.
template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vec = hn::Vec<Tag<T>>;
using U = hn::ScalableTag<std::uint32_t>;
using VU = hn::Vec<U>;
/// Lanes of a vector, at compile time: no set used here has vectors of unknown length.
template <class T>
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(HWY_LANES(T));

/// Calls f(column, count) for each vector of `cols` columns; count < lanes for the last one only.
template <class T, class G>
HWY_INLINE void for_vectors(std::int64_t cols, G&& f) {
    std::int64_t c = 0;
    for (; c + lanes<T> <= cols; c += lanes<T>) f(c, lanes<T>);
    if (c < cols) f(c, cols - c);
}

template <class T>
HWY_INLINE Vec<T> load_n(const T* p, std::int64_t n) {
    const Tag<T> d;
    return n == lanes<T> ? hn::LoadU(d, p) : hn::MaskedLoad(hn::FirstN(d, usize(n)), d, p);
}

template <class T>
HWY_INLINE void store_n(Vec<T> v, T* p, std::int64_t n) {
    const Tag<T> d;
    if (n == lanes<T>) {
        hn::StoreU(v, d, p);
    } else {
        hn::BlendedStore(v, hn::FirstN(d, usize(n)), d, p);
    }
}

#if HWY_TARGET != HWY_SCALAR
/// Low and high halves of a · m, lane by lane.
HWY_INLINE void multiply_wide(VU a, VU m, VU& low, VU& high) {
    const hn::Repartition<std::uint64_t, U> wide;
    const U narrow;
    const auto even = hn::MulEven(a, m);
    const auto odd = hn::MulEven(hn::BitCast(narrow, hn::ShiftRight<32>(hn::BitCast(wide, a))), m);
    low = hn::OddEven(hn::BitCast(narrow, hn::ShiftLeft<32>(odd)), hn::BitCast(narrow, even));
    high = hn::OddEven(hn::BitCast(narrow, odd), hn::BitCast(narrow, hn::ShiftRight<32>(even)));
}
#endif

/// Columns whose words one call of dropout_words draws.
inline constexpr std::int64_t words_per_call = 4 * lanes<std::uint32_t>;

/// words[i] ← the mask's word at (vertex, column + i), i < words_per_call; column is a multiple of 4.
/// The same numbers as gnnbench::philox, a vector of counters at a time.
HWY_INLINE void dropout_words(const DropoutMask& mask, std::int64_t vertex, std::uint32_t column,
                              std::uint32_t* HWY_RESTRICT words) {
    const std::uint32_t k0 = static_cast<std::uint32_t>(mask.seed);
    const std::uint32_t k1 =
        static_cast<std::uint32_t>(mask.seed >> 32) ^ (static_cast<std::uint32_t>(Draw::dropout) * 0x9E3779B9u);
    const std::uint32_t a0 = static_cast<std::uint32_t>(static_cast<std::uint64_t>(vertex));
    const std::uint32_t a1 = static_cast<std::uint32_t>(static_cast<std::uint64_t>(vertex) >> 32);
#if HWY_TARGET == HWY_SCALAR
    const r123::Philox4x32::ctr_type counter = {{a0, a1, column / 4, mask.stream()}};
    const r123::Philox4x32::key_type key = {{k0, k1}};
    const auto r = r123::Philox4x32()(counter, key);
    for (std::size_t i = 0; i < 4; ++i) words[i] = r[i];
#else
    const U d;
    VU x0 = hn::Set(d, a0), x1 = hn::Set(d, a1), x2 = hn::Iota(d, column / 4), x3 = hn::Set(d, mask.stream());
    VU key0 = hn::Set(d, k0), key1 = hn::Set(d, k1);
    const VU m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u);
    const VU w0 = hn::Set(d, 0x9E3779B9u), w1 = hn::Set(d, 0xBB67AE85u);
    for (int round = 0; round < 10; ++round) {
        VU low0, high0, low1, high1;
        multiply_wide(x0, m0, low0, high0);
        multiply_wide(x2, m1, low1, high1);
        x0 = hn::Xor(hn::Xor(high1, x1), key0);
        x1 = low1;
        x2 = hn::Xor(hn::Xor(high0, x3), key1);
        x3 = low0;
        key0 = hn::Add(key0, w0);
        key1 = hn::Add(key1, w1);
    }
    hn::StoreInterleaved4(x0, x1, x2, x3, d, words);
#endif
}

/// Room for the words of words_per_call columns that start anywhere, and one vector's load past them.
inline constexpr std::int64_t word_buffer = 2 * words_per_call;

/// The words of the mask's columns [column, column + count), count ≤ words_per_call, drawn into words[word_buffer];
/// returns the index of the first one. Draws start at a multiple of 4, which a shard's first column need not be.
HWY_INLINE const std::uint32_t* column_words(const DropoutMask& mask, std::int64_t vertex, std::int64_t column,
                                             std::int64_t count, std::uint32_t* HWY_RESTRICT words) {
    const std::uint32_t first = mask.first_column + static_cast<std::uint32_t>(column), skew = first % 4;
    dropout_words(mask, vertex, first - skew, words);
    if (skew + count > words_per_call)
        dropout_words(mask, vertex, first - skew + static_cast<std::uint32_t>(words_per_call),
                      words + words_per_call);
    return words + skew;
}

}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();
#endif
