#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <future>
#include <span>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/usize.hpp>

#include "plain.hpp"

// Vectors as wide as this machine has; what a resolver picks at load time does not work under sanitizers.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define GNNBENCH_REFERENCE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GNNBENCH_REFERENCE_VECTORS
#endif

/// The products' sums, in float64. Each element sums up its terms in their order, without a fused multiply-add, whatever the
/// vectors and threads: the same bits on every machine.
namespace gnnbench::reference {

/// Columns whose sums stay in registers, and terms whose rows stay in the cache.
constexpr std::int64_t wide = 32, deep = 128;

/// Eight numbers as one value.
using Eight = double __attribute__((vector_size(64)));
using EightFloats = float __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load(Eight& x, const double* from) { std::memcpy(&x, from, sizeof x); }
[[gnu::always_inline]] inline void load(Eight& x, const float* from) {
    EightFloats f;
    std::memcpy(&f, from, sizeof f);
    x = __builtin_convertvector(f, Eight);
}

/// sums[c] = Σ_k values[k] · b(indices[k], c) for columns from `first` on, as far as they fill blocks of 8·eights. Returns the first
/// that is left.
template <std::int64_t eights, class T>
[[gnu::always_inline]] inline std::int64_t sum_columns(std::span<const T> values, const std::int32_t* indices,
                                                       ConstMatrixView b, std::int64_t first, double* sums) {
    for (; first + 8 * eights <= b.cols; first += 8 * eights) {
        Eight sum[eights] = {};  // NOLINT(*-avoid-c-arrays)
        for (std::size_t k = 0; k < values.size(); ++k) {
            const T* row = &at<T>(b, indices[k], first);
            for (std::int64_t j = 0; j < eights; ++j) {
                Eight term;
                load(term, row + 8 * j);
                sum[j] += double{values[k]} * term;
            }
        }
        std::memcpy(sums + first, sum, sizeof sum);
    }
    return first;
}

/// sum_columns for all columns.
template <class T>
[[gnu::always_inline]] inline void sum_of(std::span<const T> values, const std::int32_t* indices,
                                          ConstMatrixView b, double* sums) {
    std::int64_t c = sum_columns<8>(values, indices, b, 0, sums);
    c = sum_columns<2>(values, indices, b, c, sums);
    c = sum_columns<1>(values, indices, b, c, sums);
    for (; c < b.cols; ++c) {
        sums[c] = 0;
        for (std::size_t k = 0; k < values.size(); ++k) sums[c] += double{values[k]} * at<T>(b, indices[k], c);
    }
}

GNNBENCH_REFERENCE_VECTORS
inline void sum_row(std::span<const float> values, const std::int32_t* indices, ConstMatrixView b, double* sums) {
    sum_of(values, indices, b, sums);
}
GNNBENCH_REFERENCE_VECTORS
inline void sum_row(std::span<const double> values, const std::int32_t* indices, ConstMatrixView b, double* sums) {
    sum_of(values, indices, b, sums);
}

/// sums(r, j) += Σ_t left(r, t) · panel(t, j); left [rows, terms], panel [terms, wide], sums [rows, wide].
GNNBENCH_REFERENCE_VECTORS
inline void add_panel(const double* left, std::int64_t rows, std::int64_t terms, const double* panel,
                      double* __restrict sums) {
    for (std::int64_t r = 0; r < rows; ++r, left += terms, sums += wide) {
        double sum[wide];  // NOLINT(*-avoid-c-arrays): vectorised
        std::copy_n(sums, wide, sum);
        const double* __restrict row = panel;
        for (std::int64_t t = 0; t < terms; ++t, row += wide)
            for (std::int64_t j = 0; j < wide; ++j) sum[j] += left[t] * row[j];
        std::copy_n(sum, wide, sums);
    }
}

/// Rows and columns of op(M).
struct Block {
    std::int64_t row, col, rows, cols;
};

/// The block of op(M) in float64, its rows `step` apart; M is read along its own rows.
template <class T>
void copy_block(ConstMatrixView m, Transpose turned, const Block& b, double* to, std::int64_t step) {
    if (turned == Transpose::no) {
        for (std::int64_t r = 0; r < b.rows; ++r)
            for (std::int64_t c = 0; c < b.cols; ++c) to[r * step + c] = at<T>(m, b.row + r, b.col + c);
        return;
    }
    for (std::int64_t c = 0; c < b.cols; ++c)
        for (std::int64_t r = 0; r < b.rows; ++r) to[r * step + c] = at<T>(m, b.col + c, b.row + r);
}

/// sums = rows [first, last) of op(A)·op(B), [last − first, cols].
template <class T>
std::vector<double> gemm_rows(const verb::Gemm& v, std::int64_t first, std::int64_t last) {
    const std::int64_t rows = last - first, cols = v.c.cols, inner = v.inner();
    std::vector<double> out(usize(rows * cols)), sums(usize(rows * wide)), left(usize(rows * deep)),
        panel(usize(deep * wide));
    for (std::int64_t c = 0; c < cols; c += wide) {
        const std::int64_t width = std::min(wide, cols - c);
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::int64_t k = 0; k < inner; k += deep) {
            const std::int64_t terms = std::min(deep, inner - k);
            copy_block<T>(v.a, v.ta, {first, k, rows, terms}, left.data(), terms);
            copy_block<T>(v.b, v.tb, {k, c, terms, width}, panel.data(), wide);
            add_panel(left.data(), rows, terms, panel.data(), sums.data());
        }
        for (std::int64_t r = 0; r < rows; ++r)
            std::copy_n(sums.data() + r * wide, width, out.data() + r * cols + c);
    }
    return out;
}

/// Calls work(first, last) over runs of rows, on up to `threads` threads. `multiply_adds`: with few of them all in the one that
/// calls.
template <class Work>
void over_rows(int threads, std::int64_t rows, double multiply_adds, const Work& work) {
    const auto used = multiply_adds > 1e6 ? std::clamp<std::int64_t>(rows, 1, std::max(threads, 1)) : 1;
    const std::int64_t run = std::clamp<std::int64_t>((rows + used - 1) / used, 1, 64);
    std::atomic<std::int64_t> next = 0;
    const auto some = [&] {
        for (std::int64_t first = next.fetch_add(run); first < rows; first = next.fetch_add(run))
            work(first, std::min(rows, first + run));
    };
    std::vector<std::future<void>> others;
    for (std::int64_t t = 1; t < used; ++t) others.push_back(std::async(std::launch::async, some));
    some();
    for (std::future<void>& other : others) other.get();
}

}  // namespace gnnbench::reference
