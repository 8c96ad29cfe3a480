#include "check/product_squares.hpp"

#include <algorithm>
#include <future>
#include <vector>

#include <gnnbench/usize.hpp>

#include "check/eights.hpp"
#include "check/product_blocks.hpp"
#include "check/widest_vectors.hpp"

namespace gnnbench {
namespace {

/// Sums up the terms of each element of a row, and the squares of the terms and of the sums on the way.
GNNBENCH_WIDEST_VECTORS
void square_row(const SparseRow& a, double* sums, double* squares) {
    const auto step = [](const auto& product, auto& sum, auto& square) {
        sum += product;
        square += sum * sum + product * product;
    };
    over_sparse_row(a, sums, squares, step, step);
}

/// The same for each element of rows [first, last) of A·B.
GNNBENCH_WIDEST_VECTORS
void square_rows(const LeftFactor& a, const HostMatrix& b, std::int64_t first, std::int64_t last, double* sums,
                 double* squares) {
    over_product(a, b, first, last, sums, squares, [](double product, double& sum, double& square) {
        sum += product;
        square += sum * sum + product * product;
    });
}

/// Calls work(first, last) over runs of rows, one for each thread.
void over_rows(int threads, std::int64_t rows, double multiply_adds, const auto& work) {
    const std::int64_t runs =
        multiply_adds < 1e6 ? 1 : std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(rows, 1));
    std::vector<std::future<void>> others;
    for (std::int64_t i = 1; i < runs; ++i)
        others.push_back(std::async(std::launch::async, [&, i] { work(rows * i / runs, rows * (i + 1) / runs); }));
    work(std::int64_t{0}, rows / runs);
    for (auto& other : others) other.get();
}

}  // namespace

HostMatrix squares_of_spmm(const Csr& a, const HostMatrix& b, int threads) {
    HostMatrix squares(a.rows, b.cols);
    const double work = static_cast<double>(a.nonzeros()) * static_cast<double>(b.cols);
    over_rows(threads, a.rows, work, [&](std::int64_t first, std::int64_t last) {
        std::vector<double> sums(usize(b.cols));
        for (std::int64_t r = first; r < last; ++r) {
            const auto begin = usize(a.indptr[usize(r)]), count = usize(a.indptr[usize(r) + 1]) - begin;
            square_row({std::span(a.values).subspan(begin, count), std::span(a.indices).subspan(begin, count),
                        b.values.data(), b.cols},
                       sums.data(), squares.values.data() + r * b.cols);
        }
    });
    return squares;
}

HostMatrix squares_of_gemm(Transpose ta, const HostMatrix& a, Transpose tb, const HostMatrix& b, int threads) {
    if (tb == Transpose::yes) {
        HostMatrix turned(b.cols, b.rows);
        for (std::int64_t r = 0; r < b.rows; ++r)
            for (std::int64_t c = 0; c < b.cols; ++c) turned(c, r) = b(r, c);
        return squares_of_gemm(ta, a, Transpose::no, turned, threads);
    }
    const bool turned = ta == Transpose::yes;
    HostMatrix squares(turned ? a.cols : a.rows, b.cols);
    const double work = static_cast<double>(a.values.size()) * static_cast<double>(b.cols);
    over_rows(threads, squares.rows, work, [&](std::int64_t first, std::int64_t last) {
        std::vector<double> sums;
        for (std::int64_t begin = first; begin < last; begin += rows_at_once) {
            const std::int64_t end = std::min(last, begin + rows_at_once);
            sums.assign(usize((end - begin) * b.cols), 0.0);
            square_rows(LeftFactor::of(a, turned), b, begin, end, sums.data(),
                        squares.values.data() + begin * b.cols);
        }
    });
    return squares;
}

}  // namespace gnnbench
