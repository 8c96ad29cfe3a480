#pragma once
#include <cstdint>
#include <cstring>
#include <span>

namespace gnnbench {

/// Eight numbers as one value: what the compiler makes of loops over arrays of them is not always vectors.
using Eight = double __attribute__((vector_size(64)));
using EightBits = long long __attribute__((vector_size(64)));

/// Through references, since how a vector this wide is passed depends on the instructions that a function is compiled for.
[[gnu::always_inline]] inline void load(Eight& x, const double* from) { std::memcpy(&x, from, sizeof x); }
[[gnu::always_inline]] inline void store(const Eight& x, double* to) { std::memcpy(to, &x, sizeof x); }
[[gnu::always_inline]] inline void add_magnitude(Eight& sum, const Eight& x) {
    sum += reinterpret_cast<Eight>(reinterpret_cast<EightBits>(x) & 0x7fff'ffff'ffff'ffff);
}

/// A row of a sparse matrix, and the dense one that it is multiplied with: row-major, `cols` wide.
struct SparseRow {
    std::span<const double> values;
    std::span<const std::int32_t> indices;
    const double* dense;
    std::int64_t cols;
};

/// Gives each column from `first` on, as far as they fill blocks of 8·eights, two numbers, which begin as 0 and into which
/// step(x, one, other) takes the terms a_k·b(k, c) in the order of k; they stay in registers. Returns the first column that is left.
template <std::int64_t eights, class Step>
[[gnu::always_inline]] inline std::int64_t over_blocks(const SparseRow& a, std::int64_t first, double* one,
                                                       double* other, Step step) {
    constexpr std::int64_t width = 8 * eights;
    for (; first + width <= a.cols; first += width) {
        Eight x[eights] = {}, y[eights] = {};  // NOLINT(*-avoid-c-arrays)
        for (std::size_t k = 0; k < a.values.size(); ++k) {
            const double* row = a.dense + a.indices[k] * a.cols + first;
            if (k + 4 < a.values.size()) {
                const double* later = a.dense + a.indices[k + 4] * a.cols + first;
                for (std::int64_t j = 0; j < eights; ++j) __builtin_prefetch(later + 8 * j);
            }
            for (std::int64_t j = 0; j < eights; ++j) {
                Eight term;
                load(term, row + 8 * j);
                term *= a.values[k];
                step(term, x[j], y[j]);
            }
        }
        for (std::int64_t j = 0; j < eights; ++j) {
            store(x[j], one + first + 8 * j);
            store(y[j], other + first + 8 * j);
        }
    }
    return first;
}

/// over_blocks for all columns; `last` is step for one of them.
template <class Step, class Last>
[[gnu::always_inline]] inline void over_sparse_row(const SparseRow& a, double* one, double* other, Step step,
                                                   Last last) {
    std::int64_t c = over_blocks<8>(a, 0, one, other, step);
    c = over_blocks<2>(a, c, one, other, step);
    c = over_blocks<1>(a, c, one, other, step);
    for (; c < a.cols; ++c) {
        one[c] = other[c] = 0;
        for (std::size_t k = 0; k < a.values.size(); ++k)
            last(a.values[k] * a.dense[a.indices[k] * a.cols + c], one[c], other[c]);
    }
}

}  // namespace gnnbench
