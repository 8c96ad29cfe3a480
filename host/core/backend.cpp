#include <gnnbench/backend.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// Times one verb on the compute stream.
class Timed {
public:
    Timed(Trace& trace, Phase phase, const char* operation)
        : trace_(trace),
          id_(trace.open({.phase = phase, .stream = StreamRole::compute, .operation = operation})) {}
    ~Timed() { trace_.close(id_); }

private:
    Trace& trace_;
    Trace::SpanId id_;
};

std::string shape(ConstMatrixView m) { return fmt::format("{}x{}", m.rows, m.cols); }

void same_shape(const char* verb, ConstMatrixView a, ConstMatrixView b) {
    if (a.rows != b.rows || a.cols != b.cols)
        throw LogicError(fmt::format("{}: shapes {} and {} differ", verb, shape(a), shape(b)));
}

void check_spmm(std::int64_t rows, std::int64_t cols, ConstMatrixView b, ConstMatrixView c) {
    if (b.rows != cols || c.rows != rows || b.cols != c.cols)
        throw LogicError(fmt::format("spmm: {}x{} times {} does not give {}", rows, cols, shape(b), shape(c)));
}

}  // namespace

Backend::~Backend() = default;
BackendPlugin::~BackendPlugin() = default;
PreparedMatrix::~PreparedMatrix() = default;

Buffer::Buffer(Buffer&& o) noexcept
    : owner_(std::exchange(o.owner_, nullptr)),
      data_(std::exchange(o.data_, nullptr)),
      bytes_(std::exchange(o.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& o) noexcept {
    std::swap(owner_, o.owner_);
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
    return *this;
}

Buffer::~Buffer() {
    if (owner_) owner_->release(data_, bytes_);
}

Buffer Backend::allocate(std::size_t bytes) {
    void* data = bytes == 0 ? nullptr : do_allocate(bytes);
    if (bytes > 0 && !data) {
        const std::int64_t free = do_free_bytes();
        throw OutOfMemory(fmt::format("the device has no memory for {} bytes: {} in use{}", bytes,
                                      memory_.current_bytes, free >= 0 ? fmt::format(", {} free", free) : ""));
    }
    ++memory_.allocations;
    memory_.current_bytes += static_cast<std::int64_t>(bytes);
    memory_.peak_bytes = std::max(memory_.peak_bytes, memory_.current_bytes);
    return {*this, data, bytes};
}

void Backend::release(void* data, std::size_t bytes) noexcept {
    if (data) do_free(data, bytes);
    memory_.current_bytes -= static_cast<std::int64_t>(bytes);
}

void Backend::count_own_memory(std::int64_t bytes) {
    memory_.current_bytes += bytes;
    memory_.peak_bytes = std::max(memory_.peak_bytes, memory_.current_bytes);
}

Matrix Backend::matrix(std::int64_t rows, std::int64_t cols) {
    return {allocate(usize(rows * cols) * size_of(dtype_)), rows, cols, dtype_};
}

namespace {
/// Calls `copy` with the values of `from` in the device's type, converting only if necessary.
template <class From>
void with_dtype(std::span<const From> from, DType to, auto&& copy) {
    const bool same = (to == DType::f32) == std::is_same_v<From, float>;
    if (same) return copy(from.data(), from.size_bytes());
    using Other = std::conditional_t<std::is_same_v<From, float>, double, float>;
    const std::vector<Other> converted(from.begin(), from.end());
    copy(converted.data(), converted.size() * sizeof(Other));
}
}  // namespace

void Backend::upload(std::span<const float> from, MatrixView to) {
    require(to.contiguous() && static_cast<std::int64_t>(from.size()) == to.rows * to.cols,
            "upload: sizes differ");
    if (!from.empty())
        with_dtype(from, dtype_, [&](const void* p, std::size_t bytes) { do_copy_in(p, to.data, bytes); });
}

void Backend::upload(std::span<const double> from, MatrixView to) {
    require(to.contiguous() && static_cast<std::int64_t>(from.size()) == to.rows * to.cols,
            "upload: sizes differ");
    if (!from.empty())
        with_dtype(from, dtype_, [&](const void* p, std::size_t bytes) { do_copy_in(p, to.data, bytes); });
}

HostMatrix Backend::download(ConstMatrixView from, StreamRole stream) {
    require(from.contiguous(), "download: the matrix must be contiguous");
    HostMatrix out(from.rows, from.cols);
    if (from.empty()) return out;
    if (dtype_ == DType::f64) {
        do_copy_out(from.data, out.values.data(), from.bytes(), stream);
    } else {
        std::vector<float> narrow(out.values.size());
        do_copy_out(from.data, narrow.data(), from.bytes(), stream);
        std::copy(narrow.begin(), narrow.end(), out.values.begin());
    }
    return out;
}

void Backend::upload_bytes(const void* from, void* to, std::size_t bytes) {
    if (bytes > 0) do_copy_in(from, to, bytes);
}

void Backend::download_bytes(const void* from, void* to, std::size_t bytes, StreamRole stream) {
    if (bytes > 0) do_copy_out(from, to, bytes, stream);
}

Event Backend::record(StreamRole stream) { return do_record(stream); }
void Backend::wait(StreamRole stream, const Event& event) {
    if (!event.happened_at_once()) do_wait(stream, event);
}
std::size_t Backend::wait_any(StreamRole stream, std::span<const Event> events, const std::vector<bool>& done) {
    require(events.size() == done.size(), "wait_any: one mark per event");
    const auto first = usize(std::find(done.begin(), done.end(), false) - done.begin());
    require(first < events.size(), "wait_any: every event is already done");
    std::size_t i = first;
    const std::size_t before = waits_.size();
    if (before < waits_to_repeat_.size() && waits_to_repeat_[before] < done.size() &&
        !done[waits_to_repeat_[before]]) {
        i = waits_to_repeat_[before];
    } else if (const Event& e = events[first]; !e.happened_at_once() && e.state()->completed_by_host()) {
        for (; done[i] || !events[i].ready();) i = i + 1 == events.size() ? first : i + 1;
    }
    wait(stream, events[i]);
    if (orders_waits_) waits_.push_back(i);
    return i;
}
void Backend::order_waits(std::vector<std::size_t> repeat) {
    orders_waits_ = true;
    waits_to_repeat_ = std::move(repeat);
    waits_.clear();
}
void Backend::synchronize(StreamRole stream) { do_synchronize(stream); }

namespace {

std::unique_ptr<PreparedMatrix> described(std::unique_ptr<PreparedMatrix> prepared, const SparseSize& size,
                                          TransposedProducts t) {
    prepared->rows = size.rows;
    prepared->cols = size.cols;
    prepared->nonzeros = size.nonzeros;
    prepared->multiplies_transposed = t == TransposedProducts::wanted;
    return prepared;
}

}  // namespace

std::unique_ptr<PreparedMatrix> Backend::prepare(const Csr& a, TransposedProducts t) {
    SetupTimer timer(&prepare_cost_);
    const auto before = memory_.current_bytes;
    auto prepared = do_prepare(a, t);
    timer.add_bytes(static_cast<std::int64_t>(memory_.current_bytes - before));
    return described(std::move(prepared), {a.rows, a.cols, a.nonzeros()}, t);
}

std::unique_ptr<PreparedMatrix> Backend::prepare(const SparseSize& a, TransposedProducts t) {
    return described(do_prepare_size(a, t), a, t);
}

std::unique_ptr<PreparedMatrix> Backend::do_prepare_size(const SparseSize&, TransposedProducts) {
    throw LogicError("this back end holds values, so it needs those of a sparse matrix");
}

void Backend::spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    check_spmm(a.rows, a.cols, b, c);
    if (c.empty()) return;
    const Timed timed(trace_, Phase::spmm, "spmm");
    do_spmm(a, b, c, s, e);
}

void Backend::spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    check_spmm(a.rows, a.cols, b, c);
    if (c.empty()) return;
    const Timed timed(trace_, Phase::spmm, "spmm-unprepared");
    do_spmm(a, b, c, s, e);
}

void Backend::spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                              const Epilogue& e) {
    require(a.multiplies_transposed, "spmm_transposed: the matrix was prepared for its own products only");
    check_spmm(a.cols, a.rows, b, c);
    if (c.empty()) return;
    const Timed timed(trace_, Phase::spmm, "spmm-transposed");
    do_spmm_transposed(a, b, c, s, e);
}

void Backend::gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s,
                   const Epilogue& e) {
    const auto [m, ka] = ta == Transpose::no ? std::pair(a.rows, a.cols) : std::pair(a.cols, a.rows);
    const auto [kb, n] = tb == Transpose::no ? std::pair(b.rows, b.cols) : std::pair(b.cols, b.rows);
    if (ka != kb || c.rows != m || c.cols != n)
        throw LogicError(fmt::format("gemm: {}{} times {}{} does not give {}", shape(a),
                                     ta == Transpose::yes ? "ᵀ" : "", shape(b), tb == Transpose::yes ? "ᵀ" : "",
                                     shape(c)));
    if (c.empty()) return;
    const Timed timed(trace_, Phase::gemm, "gemm");
    do_gemm(ta, a, tb, b, c, s, e);
}

void Backend::apply(const Epilogue& e, MatrixView z) {
    if (z.empty() || e.empty()) return;
    const Timed timed(trace_, Phase::activation, "activation");
    do_apply(e, z, z);
}

void Backend::dropout(const Epilogue& e, ConstMatrixView x, MatrixView out) {
    same_shape("dropout", x, out);
    if (x.empty()) return;
    const Timed timed(trace_, Phase::activation, "dropout");
    do_apply(e, x, out);
}

void Backend::apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) {
    same_shape("apply_backward", h, dh);
    same_shape("apply_backward", h, dz);
    if (h.empty()) return;
    const Timed timed(trace_, Phase::activation, "activation-backward");
    do_apply_backward(e, h, dh, dz);
}

void Backend::column_sums(ConstMatrixView g, MatrixView out) {
    require(out.rows == 1 && out.cols == g.cols, "column_sums: the result is one row as wide as the argument");
    const Timed timed(trace_, Phase::activation, "column-sums");
    do_column_sums(g, out);
}

void Backend::softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                    double* loss_out) {
    same_shape("softmax_cross_entropy", logits, grad);
    require(!in.multi_label, "softmax_cross_entropy: the input has a label matrix");
    const Timed timed(trace_, Phase::loss, "softmax-cross-entropy");
    do_softmax_cross_entropy(logits, in, grad, loss_out);
}

void Backend::row_maxima(ConstMatrixView logits, MatrixView maxima) {
    require(maxima.rows == logits.rows && maxima.cols == 1, "row_maxima: one maximum per row");
    const Timed timed(trace_, Phase::loss, "row-maxima");
    do_row_maxima(logits, maxima);
}

void Backend::row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) {
    same_shape("row_exp_sums", maxima, sums);
    require(sums.rows == logits.rows && sums.cols == 1, "row_exp_sums: one sum per row");
    const Timed timed(trace_, Phase::loss, "row-exp-sums");
    do_row_exp_sums(logits, maxima, sums);
}

void Backend::softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima, ConstMatrixView sums,
                                          std::int64_t first_class, const LossInput& in, MatrixView grad,
                                          double* loss_out) {
    same_shape("softmax_cross_entropy_shard", logits, grad);
    same_shape("softmax_cross_entropy_shard", maxima, sums);
    require(!in.multi_label, "softmax_cross_entropy_shard: the input has a label matrix");
    const Timed timed(trace_, Phase::loss, "softmax-cross-entropy");
    do_softmax_cross_entropy_shard(logits, maxima, sums, first_class, in, grad, loss_out);
}

void Backend::count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) {
    require(!in.multi_label, "count_correct: the input has a label matrix");
    const Timed timed(trace_, Phase::loss, "count-correct");
    do_count_correct(logits, in, counts);
}

void Backend::binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                   double* loss_out) {
    same_shape("binary_cross_entropy", logits, grad);
    require(in.multi_label, "binary_cross_entropy: the input has no label matrix");
    const Timed timed(trace_, Phase::loss, "binary-cross-entropy");
    do_binary_cross_entropy(logits, in, grad, loss_out);
}

void Backend::count_positives(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) {
    require(in.multi_label, "count_positives: the input has no label matrix");
    const Timed timed(trace_, Phase::loss, "count-positives");
    do_count_positives(logits, in, counts);
}

void Backend::optimizer_step(const TrainSpec& spec, std::int64_t step, std::span<const ParameterSlot> slots) {
    const Timed timed(trace_, Phase::optimizer, "optimizer");
    do_optimizer_step(spec, step, slots);
}

void Backend::fill(MatrixView m, double v) {
    if (m.empty()) return;
    const Timed timed(trace_, Phase::pack, "fill");
    do_fill(m, v);
}

void Backend::copy(ConstMatrixView from, MatrixView to) {
    same_shape("copy", from, to);
    if (from.empty()) return;
    const Timed timed(trace_, Phase::pack, "copy");
    do_copy(from, to);
}

void Backend::axpby(double alpha, ConstMatrixView x, double beta, MatrixView y) {
    same_shape("axpby", x, y);
    if (x.empty()) return;
    const Timed timed(trace_, Phase::pack, "axpby");
    do_axpby(alpha, x, beta, y);
}

void Backend::gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
    require(from.cols == to.cols, "gather_rows: widths differ");
    if (to.empty()) return;
    const Timed timed(trace_, Phase::pack, "gather-rows");
    do_gather_rows(from, rows, to);
}

void Backend::scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
    require(from.cols == to.cols, "scatter_add_rows: widths differ");
    if (from.empty()) return;
    const Timed timed(trace_, Phase::pack, "scatter-add-rows");
    do_scatter_add_rows(from, rows, to);
}

std::unique_ptr<Transport> Backend::connect(const ProcessGroup& group) { return do_connect(group); }

}  // namespace gnnbench
