#include "check/judge_products.hpp"

#include <algorithm>
#include <cmath>

#include <gnnbench/usize.hpp>

#include "check/eights.hpp"
#include "check/judge_rows.hpp"
#include "check/product_blocks.hpp"
#include "check/widest_vectors.hpp"

namespace gnnbench {
namespace {

double activate(Activation a, double x) {
    switch (a) {
        case Activation::identity:
            return x;
        case Activation::relu:
            return std::max(x, 0.0);
        case Activation::leaky_relu:
            return x > 0 ? x : leaky_slope * x;
        case Activation::sigmoid:
            return 1 / (1 + std::exp(-x));
        case Activation::elu:
            return x > 0 ? x : std::expm1(x);
    }
    return x;
}

/// Roundings of the activation itself, relative to its value.
double activation_roundings(Activation a) {
    if (a == Activation::leaky_relu) return 2;  // the slope's and the product's
    return a == Activation::sigmoid || a == Activation::elu ? function_error : 0;
}

/// sums = Σ a_k·b_k and sizes = Σ |a_k·b_k| of each element of a row.
GNNBENCH_WIDEST_VECTORS
void sum_row(const SparseRow& a, double* sums, double* sizes) {
    over_sparse_row(
        a, sums, sizes,
        [](const Eight& product, Eight& sum, Eight& size) {
            sum += product;
            add_magnitude(size, product);
        },
        [](double product, double& sum, double& size) {
            sum += product;
            size += std::abs(product);
        });
}

/// sums = Σ a_k·b_k and sizes = Σ |a_k·b_k| of each element of rows [first, last) of A·B.
GNNBENCH_WIDEST_VECTORS
void sum_rows(const LeftFactor& a, const HostMatrix& b, std::int64_t first, std::int64_t last, double* sums,
              double* sizes) {
    over_product(a, b, first, last, sums, sizes, [](double product, double& sum, double& size) {
        sum += product;
        size += std::abs(product);
    });
}

/// A row of the product, summed over `terms` products.
void judge_row(Judgement& judgement, const FoundProduct& product, std::int64_t row, double terms,
               const double* sums, const double* sizes) {
    const HostMatrix& found = product.c;
    const ProductEnds& ends = product.ends;
    const Rounding& rounding = product.rounding;
    const auto& [alpha, beta] = ends.scale;
    const HostEpilogue& e = ends.epilogue;
    const double roundings = terms + 1 + (alpha != 1 ? 2 : 0) + (beta != 0 ? 3 : 0) + (e.bias.empty() ? 0 : 1);
    const double gamma = rounding.gamma(roundings), lost = roundings * rounding.smallest;
    for (std::int64_t c = 0; c < found.cols; ++c) {
        double x = alpha * sums[c], size = std::abs(alpha) * sizes[c];
        if (beta != 0) {
            x += beta * ends.before(row, c);
            size += std::abs(beta * ends.before(row, c));
        }
        if (!e.bias.empty()) {
            x += e.bias[usize(c)];
            size += std::abs(e.bias[usize(c)]);
        }
        judge_finished(judgement, {row, c, found(row, c)}, x, gamma * size + lost, e, rounding);
    }
}

HostMatrix transposed(const HostMatrix& m) {
    HostMatrix t(m.cols, m.rows);
    for (std::int64_t r = 0; r < m.rows; ++r)
        for (std::int64_t c = 0; c < m.cols; ++c) t(c, r) = m(r, c);
    return t;
}

}  // namespace

void judge_finished(Judgement& judgement, const FoundElement& element, double x, double bound,
                    const HostEpilogue& e, const Rounding& rounding) {
    const auto [row, col, found] = element;
    if (!std::isfinite(x) || !std::isfinite(bound) || std::abs(x) + bound > rounding.largest)
        return judgement.near(row, col, found, std::isfinite(found) ? found : NAN, 0);
    if (e.dropped(row, col)) return judgement.same(row, col, found, 0);
    double low = activate(e.activation, x - bound), high = activate(e.activation, x + bound);
    double roundings = activation_roundings(e.activation), lost = rounding.smallest;
    if (e.dropout.active()) {
        low *= e.dropout.scale();
        high *= e.dropout.scale();
        lost *= e.dropout.scale();  // what underflowed in the activation is missing as often
        roundings += 2;
    }
    if (roundings > 0) {
        const double more = rounding.gamma(roundings) * std::max(std::abs(low), std::abs(high)) + lost;
        low -= more;
        high += more;
        // No rounding makes a sum of 0 negative, nor leaves the range of the function.
        if (e.activation == Activation::relu || e.activation == Activation::sigmoid) low = std::max(low, 0.0);
        if (e.activation == Activation::elu) low = std::max(low, e.dropout.active() ? -e.dropout.scale() : -1.0);
    }
    judgement.within(row, col, found, low, high);
}

void judge_spmm(Judgement& judgement, const FoundProduct& found, std::span<const std::int64_t> indptr,
                std::span<const std::int32_t> indices, std::span<const double> values, const HostMatrix& b) {
    const double work = static_cast<double>(indices.size()) * static_cast<double>(found.c.cols);
    const auto judge = [&](std::int64_t first, std::int64_t last, Judgement& part) {
        std::vector<double> sums(usize(found.c.cols)), sizes(sums.size());
        for (std::int64_t r = first; r < last; ++r) {
            const std::int64_t begin = indptr[usize(r)], end = indptr[usize(r) + 1];
            sum_row({values.subspan(usize(begin), usize(end - begin)),
                     indices.subspan(usize(begin), usize(end - begin)), b.values.data(), b.cols},
                    sums.data(), sizes.data());
            judge_row(part, found, r, static_cast<double>(end - begin), sums.data(), sizes.data());
        }
    };
    judge_rows(judgement, found.threads, found.c.rows, work, 16, judge);
}

void judge_gemm(Judgement& judgement, const FoundProduct& found, Transpose ta, const HostMatrix& a, Transpose tb,
                const HostMatrix& b) {
    if (tb == Transpose::yes) return judge_gemm(judgement, found, ta, a, Transpose::no, transposed(b));
    const std::int64_t inner = b.rows, rows = found.c.rows, cols = found.c.cols;
    const double work = static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(cols);
    const LeftFactor left = LeftFactor::of(a, ta == Transpose::yes);
    const auto judge = [&](std::int64_t begin, std::int64_t end, Judgement& part) {
        for (std::int64_t first = begin; first < end; first += rows_at_once) {
            const std::int64_t last = std::min(end, first + rows_at_once);
            std::vector<double> sums(usize((last - first) * cols)), sizes(sums.size());
            sum_rows(left, b, first, last, sums.data(), sizes.data());
            for (std::int64_t r = first; r < last; ++r)
                judge_row(part, found, r, static_cast<double>(inner), sums.data() + (r - first) * cols,
                          sizes.data() + (r - first) * cols);
        }
    };
    judge_rows(judgement, found.threads, rows, work, 16, judge);
}

}  // namespace gnnbench
