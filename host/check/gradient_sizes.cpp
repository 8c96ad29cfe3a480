#include "check/gradient_sizes.hpp"

#include <cmath>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/host_copy.hpp"

namespace gnnbench {
namespace {

double norm(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
}

}  // namespace

void GradientSizes::do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c,
                            Scale s, const Epilogue& e) {
    inner().gemm(ta, a, tb, b, c, s, e);
    if (ta == Transpose::no || tb == Transpose::yes) return;
    const HostMatrix h = read_view(inner(), a), u = read_view(inner(), b);
    std::vector<double> sizes(usize(h.cols * u.cols));
    for (std::int64_t k = 0; k < h.rows; ++k)
        for (std::int64_t r = 0; r < h.cols; ++r)
            for (std::int64_t j = 0; j < u.cols; ++j) sizes[usize(r * u.cols + j)] += std::abs(h(k, r) * u(k, j));
    products_.push_back(norm(sizes));
}

void GradientSizes::do_column_sums(ConstMatrixView g, MatrixView out) {
    inner().column_sums(g, out);
    const HostMatrix terms = read_view(inner(), g);
    std::vector<double> sizes(usize(terms.cols));
    for (std::int64_t r = 0; r < terms.rows; ++r)
        for (std::int64_t c = 0; c < terms.cols; ++c) sizes[usize(c)] += std::abs(terms(r, c));
    sums_.push_back(norm(sizes));
}

}  // namespace gnnbench
