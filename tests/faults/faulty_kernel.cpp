#include "faults/faulty_kernel.hpp"

#include <cmath>

#include <gnnbench/transport.hpp>

#include "check/bounds.hpp"
#include "check/host_copy.hpp"
#include "faults/faulty_transport.hpp"

namespace gnnbench::faults {
namespace {

/// Without the last nonzero of its longest row.
Csr shortened(Csr a) {
    std::int64_t longest = 0;
    const auto length = [&](std::int64_t r) {
        return a.indptr[static_cast<std::size_t>(r) + 1] - a.indptr[static_cast<std::size_t>(r)];
    };
    for (std::int64_t r = 0; r < a.rows; ++r)
        if (length(r) > length(longest)) longest = r;
    if (a.rows == 0 || length(longest) == 0) return a;
    const auto last = a.indptr[static_cast<std::size_t>(longest) + 1] - 1;
    a.indices.erase(a.indices.begin() + last);
    a.values.erase(a.values.begin() + last);
    for (auto r = static_cast<std::size_t>(longest) + 1; r < a.indptr.size(); ++r) --a.indptr[r];
    return a;
}

void write_row(Kernel& k, MatrixView m, std::int64_t r, const double* values) {
    std::vector<float> narrow(values, values + m.cols);
    k.upload_bytes(narrow.data(), static_cast<float*>(m.data) + r * m.ld, narrow.size() * sizeof(float));
}

}  // namespace

void FaultyKernel::add_to(MatrixView m, std::int64_t r, std::int64_t c, double x) {
    float* at = static_cast<float*>(m.data) + r * m.ld + c;
    float value = 0;
    inner().download_bytes(at, &value, sizeof value);
    value = static_cast<float>(static_cast<double>(value) + x);
    inner().upload_bytes(&value, at, sizeof value);
}

std::unique_ptr<PreparedMatrix> FaultyKernel::do_prepare(const Csr& a) {
    const bool drops = fault_ == Fault::last_nonzero_dropped || (fault_ == Fault::wrong_at_size && a.rows >= 1500);
    auto prepared = inner().prepare(drops ? shortened(a) : a);
    csr_[prepared.get()] = a;
    return prepared;
}

Epilogue FaultyKernel::changed(const Epilogue& e, std::int64_t cols, Buffer& bias) const {
    Epilogue given = e;
    if (fault_ == Fault::dropout_of_other_epoch) ++given.dropout.epoch;
    if (fault_ != Fault::bias_dropped || !e.bias) return given;
    std::vector<float> values = read_array(inner(), static_cast<const float*>(e.bias), cols);
    values.back() = 0;
    bias = inner().allocate(values.size() * sizeof(float));
    inner().upload_bytes(values.data(), bias.data(), bias.bytes());
    given.bias = bias.data();
    return given;
}

void FaultyKernel::do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    Buffer bias;
    if (fault_ == Fault::beta_ignored) s.beta = 0;
    inner().spmm(a, b, c, s, changed(e, c.cols, bias));
    spoil(a, b, c);
}

void FaultyKernel::spoil(const PreparedMatrix& a, ConstMatrixView b, MatrixView c) {
    HostMatrix found = read_view(inner(), c);
    switch (fault_) {
        case Fault::wrong_tail_column:
            if (c.cols % 4 == 0 || c.cols < 2) return;
            for (std::int64_t r = 0; r < c.rows; ++r) {
                found(r, c.cols - 1) = found(r, c.cols - 2);
                write_row(inner(), c, r, &found(r, 0));
            }
            return;
        case Fault::stale_tile: {
            std::vector<double>& old = before_[{c.rows, c.cols}];
            std::swap(old, found.values);
            for (std::int64_t r = 0; r < std::min<std::int64_t>(4, c.rows) && !found.values.empty(); ++r)
                write_row(inner(), c, r, found.values.data() + r * c.cols);
            return;
        }
        case Fault::rows_swapped:
            if (c.rows < 2) return;
            write_row(inner(), c, 0, &found(1, 0));
            write_row(inner(), c, 1, &found(0, 0));
            return;
        case Fault::product_off: {
            // An element of the last row that is not empty.
            const HostMatrix operand = read_view(inner(), b);
            const Csr& csr = csr_.at(&a);
            for (std::int64_t r = c.rows - 1; r >= 0; --r) {
                const auto begin = csr.indptr[static_cast<std::size_t>(r)],
                           end = csr.indptr[static_cast<std::size_t>(r) + 1];
                double size = std::abs(found(r, 0));
                for (auto k = begin; k < end; ++k)
                    size += std::abs(csr.values[static_cast<std::size_t>(k)] *
                                     operand(csr.indices[static_cast<std::size_t>(k)], 0));
                if (begin == end) continue;
                return add_to(
                    c, r, 0,
                    times_bound * rounding_of(dtype()).gamma(static_cast<double>(end - begin + 4)) * size);
            }
            return;
        }
        case Fault::unwatched:
            if (first_ && !found.values.empty()) add_to(c, 0, 0, 1e-3 * std::abs(found(0, 0)));
            return;
        default:
            return;
    }
}

void FaultyKernel::do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s,
                           const Epilogue& e) {
    Buffer bias;
    inner().gemm(ta, a, tb, b, c, s, changed(e, c.cols, bias));
    if (tb == Transpose::no) spoil_product(ta, a, b, c, e);
}

/// The first element of a weight gradient, or the first that ReLU has made 0.
void FaultyKernel::spoil_product(Transpose ta, ConstMatrixView a, ConstMatrixView b, MatrixView c,
                                 const Epilogue& e) {
    const bool gradient = fault_ == Fault::gemm_off && ta == Transpose::yes;
    const bool masked = fault_ == Fault::masked_element && ta == Transpose::no && e.activation == Activation::relu;
    if (!gradient && !masked) return;
    const HostMatrix left = read_view(inner(), a), right = read_view(inner(), b), found = read_view(inner(), c);
    for (std::int64_t r = 0; r < c.rows; ++r) {
        if (masked && found(r, 0) != 0) continue;
        double size = 0;
        for (std::int64_t k = 0; k < right.rows; ++k)
            size += std::abs((gradient ? left(k, r) : left(r, k)) * right(k, 0));
        if (size == 0) continue;
        return add_to(c, r, 0,
                      times_bound * rounding_of(dtype()).gamma(static_cast<double>(right.rows + 2)) * size);
    }
}

void FaultyKernel::do_apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) {
    Epilogue given = e;
    if (fault_ == Fault::wrong_derivative) given.activation = Activation::identity;
    inner().apply_backward(given, h, dh, dz);
}

void FaultyKernel::do_column_sums(ConstMatrixView g, MatrixView out) {
    inner().column_sums(g, out);
    if (fault_ != Fault::column_sum_off) return;
    const HostMatrix terms = read_view(inner(), g);
    double size = 0;
    for (std::int64_t r = 0; r < terms.rows; ++r) size += std::abs(terms(r, 0));
    add_to(out, 0, 0, times_bound * rounding_of(dtype()).gamma(static_cast<double>(terms.rows)) * size);
}

void FaultyKernel::do_softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                            double* loss_out) {
    LossInput given = in;
    if (fault_ == Fault::loss_scale) given.scale *= 1.0001;
    inner().softmax_cross_entropy(logits, given, grad, loss_out);
}

void FaultyKernel::do_optimizer_step(const TrainSpec& spec, std::int64_t step,
                                     std::span<const ParameterSlot> slots) {
    std::vector<ParameterSlot> given(slots.begin(), slots.end());
    double decay = 0;
    for (const ParameterSlot& s : slots) decay = std::max(decay, s.weight_decay);
    if (fault_ == Fault::decayed_bias)
        for (ParameterSlot& s : given) s.weight_decay = decay;
    const bool earlier = fault_ == Fault::adam_correction && step > 1;
    inner().optimizer_step(spec, earlier ? step - 1 : step, given);
}

void FaultyKernel::do_gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
    inner().gather_rows(from, rows, to);
    if (fault_ != Fault::wrong_gather || to.rows < 2) return;
    const HostMatrix found = read_view(inner(), to);
    write_row(inner(), to, to.rows - 1, found.values.data());
}

void FaultyKernel::do_wait(StreamRole stream, const Event& event) {
    if (fault_ != Fault::late_wait) return inner().wait(stream, event);
    unwaited_.push_back(event);
}

void FaultyKernel::catch_up(StreamRole stream) {
    for (const Event& e : std::exchange(unwaited_, {})) inner().wait(stream, e);
}

void FaultyKernel::do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) {
    // Of a few bytes alone, as the loss: the checks' own reading is none of the training's.
    if (bytes <= sizeof(double)) catch_up(stream);
    inner().download_bytes(device, host, bytes, stream);
}

void FaultyKernel::do_synchronize(StreamRole stream) {
    catch_up(stream);
    inner().synchronize(stream);
}

std::unique_ptr<Transport> FaultyKernel::do_connect(const ProcessGroup& group) {
    return std::make_unique<FaultyTransport>(inner().connect(group), inner(), fault_);
}

}  // namespace gnnbench::faults
