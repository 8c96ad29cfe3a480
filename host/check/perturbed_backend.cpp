#include "check/perturbed_backend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/product_squares.hpp"

namespace gnnbench {
namespace {

constexpr std::uint32_t salt_of_all_ranks = 0xffffffff;

/// Whether float32 holds x.
bool is_narrow(double x) { return static_cast<double>(static_cast<float>(x)) == x; }

double square(double x) { return x * x; }

}  // namespace

struct PerturbedBackend::Kept final : PreparedMatrix {
    std::unique_ptr<PreparedMatrix> prepared;
    Csr csr, transpose;  ///< the latter where its products are wanted
};

PerturbedBackend::PerturbedBackend(std::unique_ptr<Backend> inner, std::uint64_t seed, int rank, int threads)
    : ForwardingBackend(std::move(inner)),
      own_(seed, static_cast<std::uint32_t>(rank)),
      common_(seed, salt_of_all_ranks),
      unit_(rounding_of(DType::f32).unit),
      threads_(threads) {
    require(dtype() == DType::f64, "the response to rounding is computed in float64");
}

std::unique_ptr<PreparedMatrix> PerturbedBackend::do_prepare(const Csr& a, TransposedProducts t) {
    auto kept = std::make_unique<Kept>();
    kept->csr = a;
    for (double& v : kept->csr.values)
        if (!is_narrow(v)) v = rounded(v);
    kept->prepared = inner().prepare(kept->csr, t);
    kept->format = kept->prepared->format;
    if (t == TransposedProducts::wanted) kept->transpose = transposed(kept->csr);
    return kept;
}

PerturbedBackend::Squares PerturbedBackend::squares_of(const Csr& a, ConstMatrixView b) const {
    return squares_of_spmm(a, read_view(inner(), b), threads_);
}

/// As CheckedBackend counts them: α's product, β's and its addition, the bias'.
void PerturbedBackend::finish(const Squares& squares, const HostMatrix& before, MatrixView c, Scale s,
                              const Epilogue& e) {
    HostMatrix sums = read_view(inner(), c);
    for (std::int64_t r = 0; r < c.rows; ++r)
        for (std::int64_t col = 0; col < c.cols; ++col) {
            double& x = sums(r, col);
            double of_all = square(s.alpha) * squares(r, col) + square(x);
            if (s.beta != 0) of_all += square(s.beta * before(r, col)) + square(x);
            if (e.bias) of_all += square(x);
            x += own_() * unit_ * std::sqrt(of_all);
        }
    write_view(inner(), sums, c);
    Epilogue rest = e;
    rest.bias = nullptr;
    if (!rest.empty()) do_apply(rest, c, c);
}

void PerturbedBackend::do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                               const Epilogue& e) {
    const auto& kept = static_cast<const Kept&>(a);
    const HostMatrix before = s.beta != 0 ? read_view(inner(), c) : HostMatrix();
    const Squares squares = squares_of(kept.csr, b);
    inner().spmm(*kept.prepared, b, c, s, bias_of(e));
    finish(squares, before, c, s, e);
}

void PerturbedBackend::do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                                          const Epilogue& e) {
    const auto& kept = static_cast<const Kept&>(a);
    const HostMatrix before = s.beta != 0 ? read_view(inner(), c) : HostMatrix();
    const Squares squares = squares_of(kept.transpose, b);
    inner().spmm_transposed(*kept.prepared, b, c, s, bias_of(e));
    finish(squares, before, c, s, e);
}

void PerturbedBackend::do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    const HostMatrix before = s.beta != 0 ? read_view(inner(), c) : HostMatrix();
    Csr csr;
    csr.rows = a.rows;
    csr.cols = a.cols;
    csr.indptr = read_array(inner(), a.indptr, a.rows + 1);
    csr.indices = read_array(inner(), a.indices, csr.indptr.back());
    csr.values = read_numbers(inner(), a.values, csr.indptr.back(), dtype());
    const Squares squares = squares_of(csr, b);
    inner().spmm(a, b, c, s, bias_of(e));
    finish(squares, before, c, s, e);
}

void PerturbedBackend::do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c,
                               Scale s, const Epilogue& e) {
    const HostMatrix before = s.beta != 0 ? read_view(inner(), c) : HostMatrix();
    const Squares squares = squares_of_gemm(ta, read_view(inner(), a), tb, read_view(inner(), b), threads_);
    inner().gemm(ta, a, tb, b, c, s, bias_of(e));
    finish(squares, before, c, s, e);
}

void PerturbedBackend::move_by(MatrixView m, double roundings) {
    HostMatrix values = read_view(inner(), m);
    const double part = unit_ * std::sqrt(roundings);
    for (double& x : values.values) x += own_() * part * x;
    write_view(inner(), values, m);
}

/// A result on one side of a kink stays there.
void PerturbedBackend::do_apply(const Epilogue& e, ConstMatrixView x, MatrixView z) {
    ForwardingBackend::do_apply(e, x, z);
    double roundings = (e.bias ? 1 : 0) + (e.dropout.active() ? 2 : 0);
    if (e.activation == Activation::leaky_relu) roundings += 2;
    if (e.activation == Activation::sigmoid) roundings += square(function_error);
    if (roundings > 0) move_by(z, roundings);
}

void PerturbedBackend::do_apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) {
    const bool sigmoid = e.activation == Activation::sigmoid;
    // dz may be h or dh.
    const HostMatrix output = sigmoid ? read_view(inner(), h) : HostMatrix(),
                     above = sigmoid ? read_view(inner(), dh) : HostMatrix();
    inner().apply_backward(e, h, dh, dz);
    if (!sigmoid) {
        const double roundings = (e.dropout.active() ? 3 : 0) + (e.activation == Activation::leaky_relu ? 2 : 0);
        if (roundings > 0) move_by(dz, roundings);
        return;
    }
    // 1 − y rounds, and is small where y is almost 1.
    const double scale = e.dropout.active() ? e.dropout.scale() : 1;
    HostMatrix values = read_view(inner(), dz);
    for (std::size_t i = 0; i < values.values.size(); ++i) {
        double& x = values.values[i];
        const double slope = x == 0 ? 0 : output.values[i] / scale * above.values[i] * scale;
        x += own_() * unit_ * std::sqrt(square(slope) + 5 * square(x));
    }
    write_view(inner(), values, dz);
}

void PerturbedBackend::do_column_sums(ConstMatrixView g, MatrixView out) {
    inner().column_sums(g, out);
    const HostMatrix terms = read_view(inner(), g);
    HostMatrix sums = read_view(inner(), out);
    for (std::int64_t c = 0; c < terms.cols; ++c) {
        double sum = 0, squares = 0;
        for (std::int64_t r = 0; r < terms.rows; ++r) {
            sum += terms(r, c);
            squares += sum * sum;
        }
        sums(0, c) += own_() * unit_ * std::sqrt(squares);
    }
    write_view(inner(), sums, out);
}

/// p − y of a row, with errors of p as CheckedBackend allows them: of an exponential |x − top| for its rounded argument
/// and function_error, twice, and 4 of all.
void PerturbedBackend::move_loss_gradient(const HostMatrix& logits, double scale, MatrixView grad) {
    HostMatrix values = read_view(inner(), grad);
    for (std::int64_t r = 0; r < values.rows; ++r) {
        const double* row = logits.values.data() + r * logits.cols;
        const double top = *std::max_element(row, row + logits.cols);
        for (std::int64_t c = 0; c < values.cols; ++c) {
            double& g = values(r, c);
            if (g == 0) continue;
            const double p = g < 0 ? g + scale : g;  // of the label itself g is p − 1
            const double relative = std::sqrt(square(row[c] - top) + 2 * square(function_error) + 4);
            g += own_() * unit_ * std::sqrt(square(relative * p) + square(2 * g));
        }
    }
    write_view(inner(), values, grad);
}

/// log Σ exp(x − top) − (x − top) of each counted row, which are summed in float64.
void PerturbedBackend::move_loss(const HostMatrix& logits, const LossInput& in, double* loss_out) {
    const auto split = read_array(inner(), in.split, logits.rows);
    double squares = 0;
    for (std::int64_t r = 0; r < logits.rows; ++r) {
        if (split[usize(r)] != in.counted) continue;
        const double* row = logits.values.data() + r * logits.cols;
        const auto [least, top] = std::minmax_element(row, row + logits.cols);
        squares += square((function_error + *top - *least + std::abs(*top)) * in.scale);
    }
    std::vector<double> loss = read_array(inner(), loss_out, 1);
    loss[0] += own_() * unit_ * std::sqrt(squares + 16 * square(loss[0]));
    inner().upload_bytes(loss.data(), loss_out, sizeof(double));
}

void PerturbedBackend::do_softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                                double* loss_out) {
    const HostMatrix before = read_view(inner(), logits);  // the gradient may replace them
    inner().softmax_cross_entropy(logits, in, grad, loss_out);
    if (before.values.empty()) return;
    move_loss_gradient(before, in.scale, grad);
    move_loss(before, in, loss_out);
}

void PerturbedBackend::do_row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) {
    inner().row_exp_sums(logits, maxima, sums);
    move_by(sums, square(function_error) + static_cast<double>(logits.cols));
}

void PerturbedBackend::do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima,
                                                      ConstMatrixView sums, std::int64_t first_class,
                                                      const LossInput& in, MatrixView grad, double* loss_out) {
    const HostMatrix before = read_view(inner(), logits);
    inner().softmax_cross_entropy_shard(logits, maxima, sums, first_class, in, grad, loss_out);
    if (before.values.empty()) return;
    move_loss_gradient(before, in.scale, grad);
    move_loss(before, in, loss_out);
}

void PerturbedBackend::do_binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                               double* loss_out) {
    const HostMatrix before = read_view(inner(), logits);
    inner().binary_cross_entropy(logits, in, grad, loss_out);
    if (before.values.empty()) return;
    move_loss_gradient(before, in.scale, grad);
    move_loss(before, in, loss_out);
}

/// Copies of a parameter on several ranks are rounded alike, so they are moved alike.
void PerturbedBackend::do_optimizer_step(const TrainSpec& spec, std::int64_t step,
                                         std::span<const ParameterSlot> slots) {
    inner().optimizer_step(spec, step, slots);
    for (const ParameterSlot& s : slots) {
        std::vector<double> weights = read_numbers(inner(), s.weight, s.count, dtype());
        for (double& w : weights) w += common_() * unit_ * w;
        inner().upload_bytes(weights.data(), s.weight, weights.size() * sizeof(double));
    }
}

void PerturbedBackend::do_axpby(double alpha, ConstMatrixView x, double beta, MatrixView y) {
    inner().axpby(alpha, x, beta, y);
    move_by(y, 3);
}

void PerturbedBackend::do_scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
    inner().scatter_add_rows(from, rows, to);
    HostMatrix sums = read_view(inner(), to);
    for (const std::int32_t r : read_array(inner(), rows, from.rows))
        for (std::int64_t c = 0; c < to.cols; ++c) sums(r, c) = rounded(sums(r, c));
    write_view(inner(), sums, to);
}

ModelWeights perturbed(ModelWeights weights, std::uint64_t seed) {
    RandomSigns signs(seed, salt_of_all_ranks - 1);
    for (NamedMatrix& m : weights.matrices)
        for (double& w : m.values.values)
            if (!is_narrow(w)) w += signs() * rounding_of(DType::f32).unit * w;
    return weights;
}

}  // namespace gnnbench
