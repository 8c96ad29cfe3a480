#include "check/error_bounds.hpp"

#include <cmath>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/host_copy.hpp"
#include "check/widest_vectors.hpp"

namespace gnnbench {
namespace {

/// Roundings of an input, normalised or not; and of a product beside its terms: Â's value, α, β, bias.
constexpr double input_roundings = 8, other_roundings = 8;

/// The largest slope of an activation, and the roundings that it adds to its value.
double steepest(Activation a) { return a == Activation::sigmoid ? 0.25 : 1; }
double own_roundings(Activation a) {
    if (a == Activation::leaky_relu) return 2;
    return a == Activation::sigmoid || a == Activation::elu ? function_error : 0;
}

/// to ← to + a·from, both [cols].
GNNBENCH_WIDEST_VECTORS
void add(double a, const double* __restrict from, double* __restrict to, std::int64_t cols) {
    for (std::int64_t c = 0; c < cols; ++c) to[c] += a * from[c];
}

double* row_of(HostMatrix& m, std::int64_t r) { return m.values.data() + r * m.cols; }
const double* row_of(const HostMatrix& m, std::int64_t r) { return m.values.data() + r * m.cols; }

}  // namespace

std::unique_ptr<PreparedMatrix> ErrorBounds::do_prepare(const Csr& a, TransposedProducts t) {
    auto prepared = inner().prepare(a, t);
    csr_[prepared.get()] = a;
    return prepared;
}

ErrorBounds::Bound ErrorBounds::bound_of(ConstMatrixView m) const {
    const auto known = written_.find(m.data);
    if (known != written_.end() && known->second.error.rows == m.rows && known->second.error.cols == m.cols)
        return known->second;
    Bound input{read_view(inner(), m), {}};
    for (double& x : input.error.values) x = std::abs(x);
    input.size = input.error;
    for (double& x : input.error.values) x *= rounding_.gamma(input_roundings);
    return input;
}

void ErrorBounds::perform(const verb::Spmm& v) {
    const Csr& csr = csr_.at(&v.a);
    const Bound operand = bound_of(v.b), before = v.s.beta != 0 ? bound_of(v.c) : Bound();
    inner().run(v);
    Terms t{{HostMatrix(v.c.rows, v.c.cols), HostMatrix(v.c.rows, v.c.cols)},
            std::vector<double>(usize(v.c.rows))};
    for (std::int64_t r = 0; r < v.c.rows; ++r) {
        const std::int64_t begin = csr.indptr[usize(r)], end = csr.indptr[usize(r) + 1];
        t.terms[usize(r)] = static_cast<double>(end - begin);
        for (std::int64_t k = begin; k < end; ++k) {
            const double value = std::abs(csr.values[usize(k)]);
            add(value, row_of(operand.error, csr.indices[usize(k)]), row_of(t.sums.error, r), v.c.cols);
            add(value, row_of(operand.size, csr.indices[usize(k)]), row_of(t.sums.size, r), v.c.cols);
        }
    }
    finish(t, before, v.c, v.s, v.e);
}

/// H W: the right operand is a weight, and exact.
void ErrorBounds::perform(const verb::Gemm& v) {
    require(v.ta == Transpose::no && v.tb == Transpose::no,
            "a forward pass multiplies by weights from the right alone");
    const Bound operand = bound_of(v.a), before = v.s.beta != 0 ? bound_of(v.c) : Bound();
    const HostMatrix weight = read_view(inner(), v.b);
    inner().run(v);
    Terms t{{HostMatrix(v.c.rows, v.c.cols), HostMatrix(v.c.rows, v.c.cols)},
            std::vector<double>(usize(v.c.rows), static_cast<double>(v.a.cols))};
    std::vector<double> sizes(weight.values.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::abs(weight.values[i]);
    for (std::int64_t r = 0; r < v.c.rows; ++r)
        for (std::int64_t k = 0; k < v.a.cols; ++k) {
            const double* w = sizes.data() + k * weight.cols;
            if (operand.size(r, k) == 0) continue;  // ReLU's zeros, and those of sparse features
            add(operand.error(r, k), w, row_of(t.sums.error, r), v.c.cols);
            add(operand.size(r, k), w, row_of(t.sums.size, r), v.c.cols);
        }
    finish(t, before, v.c, v.s, v.e);
}

void ErrorBounds::finish(const Terms& t, const Bound& before, MatrixView c, Scale s, const Epilogue& e) {
    const HostMatrix found = read_view(inner(), c);
    const HostEpilogue host = read_epilogue(inner(), e, c.rows, c.cols);
    require(!host.dropout.active(), "a forward pass that is bounded has no dropout");
    const double alpha = std::abs(s.alpha), beta = std::abs(s.beta);
    const bool ends = host.activation != Activation::identity;
    Bound out{HostMatrix(c.rows, c.cols), HostMatrix(c.rows, c.cols)};
    for (std::int64_t r = 0; r < c.rows; ++r) {
        const double gamma = rounding_.gamma(t.terms[usize(r)] + other_roundings);
        for (std::int64_t col = 0; col < c.cols; ++col) {
            double error = alpha * t.sums.error(r, col), size = alpha * t.sums.size(r, col);
            if (beta != 0) {
                error += beta * before.error(r, col);
                size += beta * before.size(r, col);
            }
            if (!host.bias.empty()) size += std::abs(host.bias[usize(col)]);
            // Where the other type overflows, nothing bounds what follows.
            error = size > rounding_.largest
                        ? INFINITY
                        : error + gamma * size + (t.terms[usize(r)] + other_roundings) * rounding_.smallest;
            const double value = std::abs(found(r, col));
            out.error(r, col) = steepest(host.activation) * error +
                                rounding_.gamma(own_roundings(host.activation)) * (value + error);
            out.size(r, col) = ends ? value + out.error(r, col) : size;
        }
    }
    last_ = out.error;
    written_[c.data] = std::move(out);
}

}  // namespace gnnbench
