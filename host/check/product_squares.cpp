#include "check/product_squares.hpp"

#include <algorithm>
#include <future>
#include <vector>

#include <gnnbench/usize.hpp>

#include "check/product_blocks.hpp"
#include "check/widest_vectors.hpp"

namespace gnnbench {
namespace {

/// Adds a·b to each sum, and the squares of the product and of the sum.
GNNBENCH_WIDEST_VECTORS
void add_squares(double a, const double* __restrict b, std::int64_t n, double* __restrict sums,
                 double* __restrict squares) {
    for (std::int64_t j = 0; j < n; ++j) {
        const double product = a * b[j];
        sums[j] += product;
        squares[j] += sums[j] * sums[j] + product * product;
    }
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
            std::fill(sums.begin(), sums.end(), 0.0);
            for (std::int64_t k = a.indptr[usize(r)]; k < a.indptr[usize(r) + 1]; ++k)
                add_squares(a.values[usize(k)], b.values.data() + a.indices[usize(k)] * b.cols, b.cols,
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
