#pragma once
#include <memory>
#include <string>

#include "check/forwarding_backend.hpp"
#include "check/in_flight.hpp"
#include "check/ledger.hpp"

namespace gnnbench {

std::string shape_of(ConstMatrixView m);  ///< "[3x4]", for reports

/// A back end under test: every verb runs on it, and then again in float64 on the host from the operands that the
/// verb received; each element of the result must be within the bound that rounding sets (bounds.hpp). Its
/// transport's messages are checked too (checked_transport.hpp). Slow, and it waits for the device after every verb:
/// a fault that needs a missing wait shows only in a training without it.
///
/// Products: |C − C64| ≤ γ_k(|α||A||B| + |βC| + |bias|), k the nonzeros of the row or the inner length, and one more
/// for each rounding of α, β, bias and the conversion of A's values. An activation that is monotone must lie between
/// its values at both ends of that interval. Copies, gathers, fills, maxima and counts are exact.
class CheckedBackend final : public ForwardingBackend {
public:
    /// Products are recomputed on up to `threads` threads.
    CheckedBackend(std::unique_ptr<Backend> under_test, std::shared_ptr<Ledger> ledger, int threads = 1);

private:
    void do_copy_in(const void* host, void* device, std::size_t bytes) override;
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) override;
    void do_wait(StreamRole stream, const Event& event) override;
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    void do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) override;
    void do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) override;
    void do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                            const Epilogue& e) override;
    void do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c, Scale s,
                 const Epilogue& e) override;
    void do_apply(const Epilogue& e, ConstMatrixView x, MatrixView z) override;
    void do_apply_backward(const Epilogue& e, ConstMatrixView h, ConstMatrixView dh, MatrixView dz) override;
    void do_column_sums(ConstMatrixView g, MatrixView out) override;
    void do_softmax_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                  double* loss_out) override;
    void do_row_maxima(ConstMatrixView logits, MatrixView maxima) override;
    void do_row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) override;
    void do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima, ConstMatrixView sums,
                                        std::int64_t first_class, const LossInput& in, MatrixView grad,
                                        double* loss_out) override;
    void do_count_correct(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) override;
    void do_binary_cross_entropy(ConstMatrixView logits, const LossInput& in, MatrixView grad,
                                 double* loss_out) override;
    void do_count_positives(ConstMatrixView logits, const LossInput& in, std::int64_t* counts) override;
    void do_optimizer_step(const TrainSpec& spec, std::int64_t step,
                           std::span<const ParameterSlot> slots) override;
    void do_fill(MatrixView m, double v) override;
    void do_copy(ConstMatrixView from, MatrixView to) override;
    void do_axpby(double alpha, ConstMatrixView x, double beta, MatrixView y) override;
    void do_gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) override;
    void do_scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) override;
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override;

    void reads(const char* verb, ConstMatrixView m) { in_flight_->check_access(verb, m, false); }
    void writes(const char* verb, ConstMatrixView m) { in_flight_->check_access(verb, m, true); }

    std::shared_ptr<Ledger> ledger_;
    std::shared_ptr<InFlight> in_flight_;
    int threads_;
};

}  // namespace gnnbench
