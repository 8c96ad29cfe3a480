#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gnnbench/matrix.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// The left factor of a dense product, or its transpose: element (r, k) of rows × inner.
struct LeftFactor {
    const double* first;
    std::int64_t next_row, next_term;  ///< steps in elements

    static LeftFactor of(const HostMatrix& a, bool transposed) {
        return transposed ? LeftFactor{a.values.data(), 1, a.cols} : LeftFactor{a.values.data(), a.cols, 1};
    }
    double at(std::int64_t r, std::int64_t k) const { return first[r * next_row + k * next_term]; }
};

/// Rows of which a caller of over_product keeps the numbers at a time.
constexpr std::int64_t rows_at_once = 64;

/// Rows [first, last) of A·B, of which two numbers an element are kept in rows of B's width, `one` and `other`, from row
/// `first` on. step(x, one, other) takes the term x = A(r, k)·B(k, c) in; each element's terms come in the order of k.
/// Thirty-two columns at a time, whose numbers stay in registers, and so many terms that their part of B stays in the
/// cache. Inlined, so that the caller's vectors are used.
template <class Step>
[[gnu::always_inline]] inline void over_product(const LeftFactor& a, const HostMatrix& b, std::int64_t first,
                                                std::int64_t last, double* __restrict one,
                                                double* __restrict other, Step step) {
    constexpr std::int64_t wide = 32, deep = 128;
    std::vector<double> panel(usize(deep * wide));
    for (std::int64_t c = 0; c < b.cols; c += wide)
        for (std::int64_t k = 0; k < b.rows; k += deep) {
            const std::int64_t width = std::min(wide, b.cols - c), terms = std::min(deep, b.rows - k);
            for (std::int64_t t = 0; t < terms; ++t)
                std::copy_n(b.values.data() + (k + t) * b.cols + c, width, panel.data() + t * wide);
            for (std::int64_t r = first; r < last; ++r) {
                double x[wide] = {}, y[wide] = {};  // NOLINT(*-avoid-c-arrays): vectorised
                const std::int64_t at = (r - first) * b.cols + c;
                std::copy_n(one + at, width, x);
                std::copy_n(other + at, width, y);
                const double* __restrict row = panel.data();
                for (std::int64_t t = 0; t < terms; ++t, row += wide) {
                    const double left = a.at(r, k + t);
                    for (std::int64_t j = 0; j < wide; ++j) step(left * row[j], x[j], y[j]);
                }
                std::copy_n(x, width, one + at);
                std::copy_n(y, width, other + at);
            }
        }
}

}  // namespace gnnbench
