#pragma once
#include <map>
#include <memory>

#include <gnnbench/backend.hpp>

namespace gnnbench {

/// An epilogue's bias alone: for a decorator that needs sums before the activation.
inline Epilogue bias_of(const Epilogue& e) {
    Epilogue bias;
    bias.bias = e.bias;
    return bias;
}

/// A back end that forwards every verb to another: the base of decorators. Memory is counted here too, so memory() is
/// what was allocated through this back end, without what the inner one takes for itself.
class ForwardingBackend : public Backend {
public:
    explicit ForwardingBackend(std::unique_ptr<Backend> inner);
    ~ForwardingBackend() override;

protected:
    Backend& inner() const { return *inner_; }

    void* do_allocate(std::size_t bytes) override;
    void do_free(void* data, std::size_t bytes) noexcept override;
    std::int64_t do_free_bytes() const override { return -1; }
    void do_copy_in(const void* host, void* device, std::size_t bytes) override {
        inner_->upload_bytes(host, device, bytes);
    }
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) override {
        inner_->download_bytes(device, host, bytes, stream);
    }
    Event do_record(StreamRole stream) override { return inner_->record(stream); }
    void do_wait(StreamRole stream, const Event& event) override { inner_->wait(stream, event); }
    void do_synchronize(StreamRole stream) override { inner_->synchronize(stream); }
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override {
        return inner_->prepare(a, t);
    }
    void do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) override {
        inner_->spmm(a, b, c, s, e);
    }
    void do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) override {
        inner_->spmm(a, b, c, s, e);
    }
    void do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                            const Epilogue& e) override {
        inner_->spmm_transposed(a, b, c, s, e);
    }
    void do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s,
                 const Epilogue& e) override {
        inner_->gemm(ta, a, tb, b, c, s, e);
    }
    void do_apply(const Epilogue& e, ConstMatrixView x, MatrixView z) override;
    void do_apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) override {
        inner_->apply_backward(e, h, dh, dz);
    }
    void do_column_sums(ConstMatrixView g, MatrixView out) override { inner_->column_sums(g, out); }
    void do_softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                  double* loss_out) override {
        inner_->softmax_cross_entropy(logits, in, grad, loss_out);
    }
    void do_row_maxima(ConstMatrixView logits, MatrixView maxima) override { inner_->row_maxima(logits, maxima); }
    void do_row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) override {
        inner_->row_exp_sums(logits, maxima, sums);
    }
    void do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima, ConstMatrixView sums,
                                        std::int64_t first_class, const LossInput& in, MatrixView grad,
                                        double* loss_out) override {
        inner_->softmax_cross_entropy_shard(logits, maxima, sums, first_class, in, grad, loss_out);
    }
    void do_count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) override {
        inner_->count_correct(logits, in, counts);
    }
    void do_binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                 double* loss_out) override {
        inner_->binary_cross_entropy(logits, in, grad, loss_out);
    }
    void do_count_positives(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) override {
        inner_->count_positives(logits, in, counts);
    }
    void do_optimizer_step(const TrainSpec& spec, std::int64_t step,
                           std::span<const ParameterSlot> slots) override {
        inner_->optimizer_step(spec, step, slots);
    }
    void do_fill(MatrixView m, double v) override { inner_->fill(m, v); }
    void do_copy(ConstMatrixView from, MatrixView to) override { inner_->copy(from, to); }
    void do_axpby(double alpha, ConstMatrixView x, double beta, MatrixView y) override {
        inner_->axpby(alpha, x, beta, y);
    }
    void do_gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) override {
        inner_->gather_rows(from, rows, to);
    }
    void do_scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) override {
        inner_->scatter_add_rows(from, rows, to);
    }
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override { return inner_->connect(group); }
    std::string do_notes() const override { return inner_->notes(); }

private:
    std::unique_ptr<Backend> inner_;
    std::map<void*, Buffer> buffers_;  ///< of the inner back end, by address
};

}  // namespace gnnbench
