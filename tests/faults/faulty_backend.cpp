#include "faults/faulty_backend.hpp"

#include <algorithm>
#include <cmath>

#include <gnnbench/transport.hpp>

#include "check/bounds.hpp"
#include "check/host_copy.hpp"
#include "check/ledger.hpp"
#include "faults/faulty_transport.hpp"

namespace gnnbench::faults {
namespace {

std::int64_t length(const Csr& a, std::int64_t r) {
    return a.indptr[static_cast<std::size_t>(r) + 1] - a.indptr[static_cast<std::size_t>(r)];
}

/// The first of those that have most nonzeros.
std::int64_t longest_row(const Csr& a) {
    std::int64_t longest = 0;
    for (std::int64_t r = 1; r < a.rows; ++r)
        if (length(a, r) > length(a, longest)) longest = r;
    return longest;
}

/// Without the last nonzero of its longest row.
Csr shortened(Csr a) {
    const std::int64_t longest = longest_row(a);
    if (a.rows == 0 || length(a, longest) == 0) return a;
    const auto last = a.indptr[static_cast<std::size_t>(longest) + 1] - 1;
    a.indices.erase(a.indices.begin() + last);
    a.values.erase(a.values.begin() + last);
    for (auto r = static_cast<std::size_t>(longest) + 1; r < a.indptr.size(); ++r) --a.indptr[r];
    return a;
}

/// The bound that a check sets for element (r, c): how far it is moved, over the multiple of the bound that the check
/// then finds. `judge` is the check of a whole result.
template <class Judge>
double bound_of(const Judge& judge, HostMatrix found, std::int64_t r, std::int64_t c) {
    const double far = 1 + std::abs(found(r, c));
    found(r, c) += far;
    Ledger scratch(0);
    {
        Judgement judgement(scratch, "bound", "");
        judge(judgement, found);
    }
    return far / scratch.count("bound").worst_ratio;
}

/// A bound that only underflow sets, beside which a float has no digits.
constexpr double no_bound = 1e-30;

}  // namespace

void FaultyBackend::write_row(MatrixView m, std::int64_t r, const double* values) {
    std::vector<float> narrow(values, values + m.cols);
    inner().upload_bytes(narrow.data(), static_cast<float*>(m.data) + r * m.ld, narrow.size() * sizeof(float));
}

void FaultyBackend::add_to(MatrixView m, std::int64_t r, std::int64_t c, double x) {
    float* at = static_cast<float*>(m.data) + r * m.ld + c;
    float value = 0;
    inner().download_bytes(at, &value, sizeof value);
    value = static_cast<float>(static_cast<double>(value) + x);
    inner().upload_bytes(&value, at, sizeof value);
}

std::unique_ptr<PreparedMatrix> FaultyBackend::do_prepare(const Csr& a, TransposedProducts t) {
    const bool large = a.rows >= 1500;
    const bool drops = fault_ == Fault::last_nonzero_dropped || (fault_ == Fault::wrong_at_size && large) ||
                       (fault_ == Fault::wrong_in_freed && large && csr_.empty());
    auto prepared = inner().prepare(drops ? shortened(a) : a, t);
    csr_[prepared.get()] = a;
    return prepared;
}

Epilogue FaultyBackend::changed(const Epilogue& e, std::int64_t cols, Buffer& bias) const {
    Epilogue given = e;
    if (fault_ == Fault::dropout_of_other_epoch) ++given.dropout.epoch;
    if (fault_ == Fault::late_dropout && given.dropout.epoch >= late_epoch) given.dropout.epoch = 0;
    if (fault_ != Fault::bias_dropped || !e.bias) return given;
    std::vector<float> values = read_array(inner(), static_cast<const float*>(e.bias), cols);
    values.back() = 0;
    bias = inner().allocate(values.size() * sizeof(float));
    inner().upload_bytes(values.data(), bias.data(), bias.bytes());
    given.bias = bias.data();
    return given;
}

/// What a product starts from, where a fault needs its bound.
ProductEnds FaultyBackend::ends(MatrixView c, Scale s, const Epilogue& e) {
    return {s.beta != 0 ? read_view(inner(), c) : HostMatrix(), s, read_epilogue(inner(), e, c.rows, c.cols)};
}

void FaultyBackend::perform(const verb::Spmm& v) {
    Buffer bias;
    const Scale s{v.s.alpha, fault_ == Fault::beta_ignored ? 0 : v.s.beta};
    const ProductEnds given = ends(v.c, s, v.e);
    inner().spmm(v.a, v.b, v.c, s, changed(v.e, v.c.cols, bias));
    if (fault_ == Fault::product_off) return spoil_product(v.a, v.b, v.c, given);
    spoil(v.c);
}

void FaultyBackend::spoil(MatrixView c) {
    HostMatrix found = read_view(inner(), c);
    switch (fault_) {
        case Fault::wrong_tail_column:
            if (c.cols % 4 == 0 || c.cols < 2) return;
            for (std::int64_t r = 0; r < c.rows; ++r) {
                found(r, c.cols - 1) = found(r, c.cols - 2);
                write_row(c, r, &found(r, 0));
            }
            return;
        case Fault::stale_tile: {
            std::vector<double>& old = before_[{c.rows, c.cols}];
            std::swap(old, found.values);
            for (std::int64_t r = 0; r < std::min<std::int64_t>(4, c.rows) && !found.values.empty(); ++r)
                write_row(c, r, found.values.data() + r * c.cols);
            return;
        }
        case Fault::rows_swapped:
            if (c.rows < 2) return;
            write_row(c, 0, &found(1, 0));
            write_row(c, 1, &found(0, 0));
            return;
        default:
            return;
    }
}

/// An element of the longest row.
void FaultyBackend::spoil_product(const PreparedMatrix& a, ConstMatrixView b, MatrixView c,
                                  const ProductEnds& ends) {
    const Csr& csr = csr_.at(&a);
    const std::int64_t r = longest_row(csr);
    if (c.rows == 0 || c.cols == 0 || length(csr, r) == 0) return;
    const HostMatrix operand = read_view(inner(), b);
    const auto judge = [&](Judgement& j, const HostMatrix& found) {
        judge_spmm(j, {found, ends, rounding_of(dtype())}, csr.indptr, csr.indices, csr.values, operand);
    };
    add_to(c, r, 0, times_ * bound_of(judge, read_view(inner(), c), r, 0));
}

void FaultyBackend::perform(const verb::Gemm& v) {
    Buffer bias;
    const ProductEnds given = ends(v.c, v.s, v.e);
    if (fault_ == Fault::given_after_residual) add_residual(v);
    inner().gemm(v.ta, v.a, v.tb, v.b, v.c, v.s, changed(v.e, v.c.cols, bias));
    if (v.tb == Transpose::yes) return;
    if (fault_ == Fault::not_a_number && v.ta == Transpose::yes && !v.c.empty()) add_to(v.c, 0, 0, NAN);
    if (fault_ == Fault::gemm_off && v.ta == Transpose::yes) spoil_gradient(v.a, v.b, v.c, given);
    if (fault_ == Fault::masked_element && v.ta == Transpose::no && v.e.activation == Activation::relu)
        spoil_zero(v.a, v.b, v.c, given);
}

/// The first element that sums up more than zeros.
void FaultyBackend::spoil_gradient(ConstMatrixView a, ConstMatrixView b, MatrixView c, const ProductEnds& ends) {
    const HostMatrix left = read_view(inner(), a), right = read_view(inner(), b), found = read_view(inner(), c);
    const auto judge = [&](Judgement& j, const HostMatrix& m) {
        judge_gemm(j, {m, ends, rounding_of(dtype())}, Transpose::yes, left, Transpose::no, right);
    };
    for (std::int64_t r = 0; r < c.rows; ++r)
        if (const double bound = bound_of(judge, found, r, 0); bound > no_bound)
            return add_to(c, r, 0, times_ * bound);
}

/// The first element that must be 0, because what ReLU gets is negative whatever rounding did.
void FaultyBackend::spoil_zero(ConstMatrixView a, ConstMatrixView b, MatrixView c, const ProductEnds& ends) {
    const HostMatrix left = read_view(inner(), a), right = read_view(inner(), b), found = read_view(inner(), c);
    const auto judge = [&](Judgement& j, const HostMatrix& m) {
        judge_gemm(j, {m, ends, rounding_of(dtype())}, Transpose::no, left, Transpose::no, right);
    };
    for (std::int64_t r = 0; r < c.rows; ++r)
        if (bound_of(judge, found, r, 0) == 0) return add_to(c, r, 0, 1e-30);
}

void FaultyBackend::perform(const verb::Apply& v) {
    if (fault_ != Fault::sigmoid_far_out || v.e.activation != Activation::sigmoid) return inner().run(v);
    const HostMatrix before = read_view(inner(), v.x);
    inner().run(v);
    HostMatrix found = read_view(inner(), v.z);
    for (std::int64_t r = 0; r < v.z.rows; ++r) {
        for (std::int64_t c = 0; c < v.z.cols; ++c)
            if (before(r, c) < -178) found(r, c) = 1;
        write_row(v.z, r, &found(r, 0));
    }
}

void FaultyBackend::perform(const verb::ApplyBackward& v) {
    Epilogue given = v.e;
    if (fault_ == Fault::wrong_derivative) given.activation = Activation::identity;
    inner().apply_backward(given, v.h, v.dh, v.dz);
}

void FaultyBackend::perform(const verb::ColumnSums& v) {
    inner().run(v);
    if (fault_ != Fault::column_sum_off) return;
    const HostMatrix terms = read_view(inner(), v.g);
    double size = 0;
    for (std::int64_t r = 0; r < terms.rows; ++r) size += std::abs(terms(r, 0));
    add_to(v.out, 0, 0, times_ * rounding_of(dtype()).gamma(static_cast<double>(terms.rows)) * size);
}

void FaultyBackend::perform(const verb::SoftmaxCrossEntropy& v) {
    LossInput given = v.in;
    if (fault_ == Fault::loss_mean || (fault_ == Fault::late_mean && progress().epoch >= late_epoch))
        given.scale = v.in.scale / (1 + v.in.scale);  // 1/n, then 1/(n + 1)
    // The gradient may replace the logits.
    const HostMatrix before = read_view(inner(), v.logits);
    inner().softmax_cross_entropy(v.logits, given, v.grad, v.loss_out);
    if (fault_ == Fault::loss_gradient_off) spoil_loss(before, v.in, v.grad);
}

void FaultyBackend::perform(const verb::BinaryCrossEntropy& v) {
    LossInput given = v.in;
    if (fault_ == Fault::class_mean) given.scale = v.in.scale * static_cast<double>(v.logits.cols);
    inner().binary_cross_entropy(v.logits, given, v.grad, v.loss_out);
}

void FaultyBackend::perform(const verb::CountCorrect& v) {
    inner().run(v);
    if (fault_ != Fault::class_zero_right) return;
    const HostMatrix found = read_view(inner(), v.logits);
    const auto labels = read_array(inner(), v.in.labels, v.logits.rows);
    const auto split = read_array(inner(), v.in.split, v.logits.rows);
    auto told = read_array(inner(), v.counts, 6);
    for (std::int64_t r = 0; r < v.logits.rows; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const double* row = found.values.data() + r * v.logits.cols;
        if (split[at] == Split::none || labels[at] != 0 || std::max_element(row, row + v.logits.cols) == row)
            continue;
        ++told[2 * (static_cast<std::size_t>(split[at]) - 1)];
    }
    inner().upload_bytes(told.data(), v.counts, told.size() * sizeof(std::int64_t));
}

void FaultyBackend::perform(const verb::CountPositives& v) {
    inner().run(v);
    if (fault_ != Fault::no_false_negatives) return;
    auto told = read_array(inner(), v.counts, 9);
    told[2] = told[5] = told[8] = 0;
    inner().upload_bytes(told.data(), v.counts, told.size() * sizeof(std::int64_t));
}

/// Of a counted row, the gradient of a class that is not its label: p·scale, p = exp(x) / Σ exp; the first that is not
/// all but 0, where its bound has no digits beside it. That bound has, in u, 16 for each of the two exponentials, their
/// rounded arguments, the sum's additions and 4 for the rest.
void FaultyBackend::spoil_loss(const HostMatrix& logits, const LossInput& in, MatrixView grad) {
    const auto labels = read_array(inner(), in.labels, logits.rows);
    const auto split = read_array(inner(), in.split, logits.rows);
    for (std::int64_t r = 0; r < logits.rows; ++r) {
        const std::int32_t label = labels[static_cast<std::size_t>(r)];
        if (split[static_cast<std::size_t>(r)] != in.counted || label < 0) continue;
        const double* row = logits.values.data() + r * logits.cols;
        const double top = *std::max_element(row, row + logits.cols);
        double sum = 0, arguments = 0;
        for (std::int64_t c = 0; c < logits.cols; ++c) {
            sum += std::exp(row[c] - top);
            arguments += (top - row[c]) * std::exp(row[c] - top);
        }
        for (std::int64_t other = 0; other < logits.cols; ++other) {
            const double gradient = std::exp(row[other] - top) / sum * in.scale;
            if (other == label || gradient < no_bound) continue;
            const double roundings =
                2 * function_error + (top - row[other]) + arguments / sum + static_cast<double>(logits.cols) + 4;
            return add_to(grad, r, other, times_ * rounding_of(dtype()).gamma(roundings) * gradient);
        }
    }
}

void FaultyBackend::perform(const verb::OptimizerStep& v) {
    std::vector<ParameterSlot> given(v.slots.begin(), v.slots.end());
    double decay = 0;
    for (const ParameterSlot& s : v.slots) decay = std::max(decay, s.weight_decay);
    if (fault_ == Fault::decayed_bias)
        for (ParameterSlot& s : given) s.weight_decay = decay;
    const bool late = v.step > late_epoch;
    if (fault_ == Fault::late_standstill && late) return;
    if (fault_ == Fault::late_decay && late)
        for (ParameterSlot& s : given) s.weight_decay = 0;
    const bool earlier =
        (fault_ == Fault::adam_correction && v.step > 1) || (fault_ == Fault::late_correction && late);
    const bool off = fault_ == Fault::step_off && v.spec.optimizer == OptimizerKind::sgd && v.slots[0].count > 0;
    const double before = off ? read_numbers(inner(), v.slots[0].weight, 1, dtype())[0] : 0;
    inner().optimizer_step(v.spec, earlier ? v.step - 1 : v.step, given);
    if (off) spoil_step(v.spec, v.slots[0], before);
}

/// w' = w − η(g + λw) may be γ_12·η(|g| + λ|w|) + 2u|w| off.
void FaultyBackend::spoil_step(const TrainSpec& spec, const ParameterSlot& slot, double before) {
    const Rounding rounding = rounding_of(dtype());
    const double g = read_numbers(inner(), slot.gradient, 1, dtype())[0];
    const double bound =
        rounding.gamma(12) * spec.learning_rate * (std::abs(g) + slot.weight_decay * std::abs(before)) +
        2 * rounding.unit * std::abs(before);
    add_to({slot.weight, 1, 1, 1, dtype()}, 0, 0, times_ * bound);
}

void FaultyBackend::perform(const verb::GatherRows& v) {
    inner().run(v);
    if (fault_ != Fault::wrong_gather || v.to.rows < 2) return;
    const HostMatrix found = read_view(inner(), v.to);
    write_row(v.to, v.to.rows - 1, found.values.data());
}

void FaultyBackend::do_wait(StreamRole stream, const Event& event) {
    if (fault_ != Fault::late_wait) return inner().wait(stream, event);
    unwaited_.push_back(event);
}

void FaultyBackend::catch_up(StreamRole stream) {
    for (const Event& e : std::exchange(unwaited_, {})) inner().wait(stream, e);
}

void FaultyBackend::do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) {
    // Of a few bytes alone, as the loss: the checks' own reading is none of the training's.
    if (bytes <= sizeof(double)) catch_up(stream);
    inner().download_bytes(device, host, bytes, stream);
}

void FaultyBackend::do_synchronize(StreamRole stream) {
    catch_up(stream);
    inner().synchronize(stream);
}

std::unique_ptr<Transport> FaultyBackend::do_connect(const ProcessGroup& group) {
    // Only the first training's gradients are summed up wrongly where nobody watches.
    const Fault fault = fault_ == Fault::unwatched && !first_ ? Fault::none : fault_;
    return std::make_unique<FaultyTransport>(inner().connect(group), inner(), Injected{fault, times_});
}

}  // namespace gnnbench::faults
