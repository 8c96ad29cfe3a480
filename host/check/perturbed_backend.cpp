#include "check/perturbed_backend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/kept_matrix.hpp"
#include "check/product_squares.hpp"

namespace gnnbench {
namespace {

constexpr std::uint32_t salt_of_all_ranks = 0xffffffff;

/// Whether float32 holds x.
bool is_narrow(double x) { return static_cast<double>(static_cast<float>(x)) == x; }

double square(double x) { return x * x; }

/// Whether it takes an exponential.
bool is_curved(Activation a) { return a == Activation::sigmoid || a == Activation::elu; }

}  // namespace

PerturbedBackend::PerturbedBackend(std::unique_ptr<Backend> inner, std::uint64_t seed, int rank, int threads)
    : ForwardingBackend(std::move(inner)),
      own_(seed, static_cast<std::uint32_t>(rank)),
      common_(seed, salt_of_all_ranks),
      unit_(rounding_of(DType::f32).unit),
      threads_(threads) {
    require(dtype() == DType::f64, "the response to rounding is computed in float64");
}

std::unique_ptr<PreparedMatrix> PerturbedBackend::do_prepare(const Csr& a, TransposedProducts t) {
    auto kept = std::make_unique<KeptMatrix>();
    kept->csr = a;
    for (double& v : kept->csr.values)
        if (!is_narrow(v)) v = rounded(v);
    kept->prepared = inner().prepare(kept->csr, t);
    kept->format = kept->prepared->format;
    if (t == TransposedProducts::wanted) kept->transpose = transposed(kept->csr);
    return kept;
}

std::unique_ptr<PreparedMatrix> PerturbedBackend::do_refer(const CsrView& a) {
    auto kept = std::make_unique<KeptMatrix>();
    kept->csr = read_csr(inner(), a);
    kept->prepared = inner().refer(a);
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
    if (!rest.empty()) perform(verb::Apply{rest, c, c});
}

template <class Product>
void PerturbedBackend::multiply(Product v, const Squares& squares) {
    const HostMatrix before = v.s.beta != 0 ? read_view(inner(), v.c) : HostMatrix();
    const Epilogue e = std::exchange(v.e, bias_of(v.e));
    inner().run(v);
    finish(squares, before, v.c, v.s, e);
}

void PerturbedBackend::perform(const verb::Spmm& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    multiply(verb::Spmm{*kept.prepared, v.b, v.c, v.s, v.e}, squares_of(kept.csr, v.b));
}

void PerturbedBackend::perform(const verb::SpmmTransposed& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    multiply(verb::SpmmTransposed{*kept.prepared, v.b, v.c, v.s, v.e}, squares_of(kept.transpose, v.b));
}

void PerturbedBackend::perform(const verb::SpmmUnprepared& v) {
    multiply(v, squares_of(read_csr(inner(), v.a), v.b));
}

void PerturbedBackend::perform(const verb::Gemm& v) {
    multiply(v, squares_of_gemm(v.ta, read_view(inner(), v.a), v.tb, read_view(inner(), v.b), threads_));
}

void PerturbedBackend::move_by(MatrixView m, double roundings) {
    HostMatrix values = read_view(inner(), m);
    const double part = unit_ * std::sqrt(roundings);
    for (double& x : values.values) x += own_() * part * x;
    write_view(inner(), values, m);
}

/// A result on one side of a kink stays there.
void PerturbedBackend::perform(const verb::Apply& v) {
    inner().run(v);
    double roundings = (v.e.bias ? 1 : 0) + (v.e.dropout.active() ? 2 : 0);
    if (v.e.activation == Activation::leaky_relu) roundings += 2;
    if (is_curved(v.e.activation)) roundings += square(function_error);
    if (roundings > 0) move_by(v.z, roundings);
}

void PerturbedBackend::perform(const verb::ApplyBackward& v) {
    const bool curved = is_curved(v.e.activation);
    // dz may be h or dh.
    const HostMatrix output = curved ? read_view(inner(), v.h) : HostMatrix(),
                     above = curved ? read_view(inner(), v.dh) : HostMatrix();
    inner().run(v);
    if (!curved) {
        const double roundings =
            (v.e.dropout.active() ? 3 : 0) + (v.e.activation == Activation::leaky_relu ? 2 : 0);
        if (roundings > 0) move_by(v.dz, roundings);
        return;
    }
    // sigmoid: 1 − y rounds, and is small where y is almost 1. elu: so does 1 + y.
    const double scale = v.e.dropout.active() ? v.e.dropout.scale() : 1;
    HostMatrix values = read_view(inner(), v.dz);
    for (std::size_t i = 0; i < values.values.size(); ++i) {
        double& x = values.values[i];
        const double slope = x == 0 ? 0 : output.values[i] / scale * above.values[i] * scale;
        x += own_() * unit_ * std::sqrt(square(slope) + 5 * square(x));
    }
    write_view(inner(), values, v.dz);
}

void PerturbedBackend::perform(const verb::ColumnSums& v) {
    inner().run(v);
    const HostMatrix terms = read_view(inner(), v.g);
    HostMatrix sums = read_view(inner(), v.out);
    for (std::int64_t c = 0; c < terms.cols; ++c) {
        double sum = 0, squares = 0;
        for (std::int64_t r = 0; r < terms.rows; ++r) {
            sum += terms(r, c);
            squares += sum * sum;
        }
        sums(0, c) += own_() * unit_ * std::sqrt(squares);
    }
    write_view(inner(), sums, v.out);
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

void PerturbedBackend::perform(const verb::SoftmaxCrossEntropy& v) {
    const HostMatrix before = read_view(inner(), v.logits);  // the gradient may replace them
    inner().run(v);
    if (before.values.empty()) return;
    move_loss_gradient(before, v.in.scale, v.grad);
    move_loss(before, v.in, v.loss_out);
}

void PerturbedBackend::perform(const verb::RowExpSums& v) {
    inner().run(v);
    move_by(v.sums, square(function_error) + static_cast<double>(v.logits.cols));
}

void PerturbedBackend::perform(const verb::SoftmaxCrossEntropyShard& v) {
    const HostMatrix before = read_view(inner(), v.logits);
    inner().run(v);
    if (before.values.empty()) return;
    move_loss_gradient(before, v.in.scale, v.grad);
    move_loss(before, v.in, v.loss_out);
}

void PerturbedBackend::perform(const verb::BinaryCrossEntropy& v) {
    const HostMatrix before = read_view(inner(), v.logits);
    inner().run(v);
    if (before.values.empty()) return;
    move_loss_gradient(before, v.in.scale, v.grad);
    move_loss(before, v.in, v.loss_out);
}

/// Copies of a parameter on several ranks are rounded alike, so they are moved alike.
void PerturbedBackend::perform(const verb::OptimizerStep& v) {
    inner().run(v);
    for (const ParameterSlot& s : v.slots) {
        std::vector<double> weights = read_numbers(inner(), s.weight, s.count, dtype());
        for (double& w : weights) w += common_() * unit_ * w;
        inner().upload_bytes(weights.data(), s.weight, weights.size() * sizeof(double));
    }
}

void PerturbedBackend::perform(const verb::Axpby& v) {
    inner().run(v);
    move_by(v.y, 3);
}

void PerturbedBackend::perform(const verb::ScatterAddRows& v) {
    inner().run(v);
    HostMatrix sums = read_view(inner(), v.to);
    for (const std::int32_t r : read_array(inner(), v.rows, v.from.rows))
        for (std::int64_t c = 0; c < v.to.cols; ++c) sums(r, c) = rounded(sums(r, c));
    write_view(inner(), sums, v.to);
}

ModelWeights perturbed(ModelWeights weights, std::uint64_t seed) {
    RandomSigns signs(seed, salt_of_all_ranks - 1);
    for (NamedMatrix& m : weights.matrices)
        for (double& w : m.values.values)
            if (!is_narrow(w)) w += signs() * rounding_of(DType::f32).unit * w;
    return weights;
}

}  // namespace gnnbench
