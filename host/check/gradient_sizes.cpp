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

void GradientSizes::perform(const verb::Gemm& v) {
    inner().run(v);
    if (v.ta == Transpose::no || v.tb == Transpose::yes) return;
    const HostMatrix h = read_view(inner(), v.a), u = read_view(inner(), v.b);
    std::vector<double> sizes(usize(h.cols * u.cols));
    for (std::int64_t k = 0; k < h.rows; ++k)
        for (std::int64_t r = 0; r < h.cols; ++r)
            for (std::int64_t j = 0; j < u.cols; ++j) sizes[usize(r * u.cols + j)] += std::abs(h(k, r) * u(k, j));
    products_.push_back(norm(sizes));
}

void GradientSizes::perform(const verb::ColumnSums& v) {
    inner().run(v);
    const HostMatrix terms = read_view(inner(), v.g);
    std::vector<double> sizes(usize(terms.cols));
    for (std::int64_t r = 0; r < terms.rows; ++r)
        for (std::int64_t c = 0; c < terms.cols; ++c) sizes[usize(c)] += std::abs(terms(r, c));
    sums_.push_back(norm(sizes));
}

}  // namespace gnnbench
