#pragma once
#include <map>
#include <memory>
#include <vector>

#include "check/forwarding_backend.hpp"
#include "check/judge_products.hpp"
#include "faults/faults.hpp"

namespace gnnbench::faults {

/// A back end in float32 with one fault, and a transport that may have one.
class FaultyBackend final : public ForwardingBackend {
public:
    /// `first`: of the back ends that a verification makes.
    FaultyBackend(std::unique_ptr<Backend> inner, Injected injected, bool first)
        : ForwardingBackend(std::move(inner)), fault_(injected.fault), times_(injected.times), first_(first) {}

private:
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    using ForwardingBackend::perform;
    void perform(const verb::Spmm& v) override;
    void perform(const verb::Gemm& v) override;
    void perform(const verb::Apply& v) override;
    void perform(const verb::ApplyBackward& v) override;
    void perform(const verb::ColumnSums& v) override;
    void perform(const verb::SoftmaxCrossEntropy& v) override;
    void perform(const verb::BinaryCrossEntropy& v) override;
    void perform(const verb::CountCorrect& v) override;
    void perform(const verb::CountPositives& v) override;
    void perform(const verb::OptimizerStep& v) override;
    void perform(const verb::GatherRows& v) override;
    void perform(const verb::Attend& v) override;
    void perform(const verb::AttendBackward& v) override;
    void perform(const verb::DynamicAttend& v) override;
    void perform(const verb::DynamicBackward& v) override;
    void perform(const verb::HeadDots& v) override;
    void perform(const verb::Copy& v) override;
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) override;
    void do_wait(StreamRole stream, const Event& event) override;
    void do_synchronize(StreamRole stream) override;
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override;

    void spoil(MatrixView c);
    template <class Score>
    void undo_rescale(const PreparedMatrix& a, const AttentionRows& rows, const Score& score);
    Matrix without_given(ConstMatrixView rows, std::int64_t heads);
    void add_residual(const verb::Gemm& v);
    void spoil_product(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, const ProductEnds& ends);
    void spoil_gradient(ConstMatrixView a, ConstMatrixView b, MatrixView c, const ProductEnds& ends);
    void spoil_zero(ConstMatrixView a, ConstMatrixView b, MatrixView c, const ProductEnds& ends);
    void spoil_loss(const HostMatrix& logits, const LossInput& in, MatrixView grad);
    void spoil_step(const TrainSpec& spec, const ParameterSlot& slot, double before);
    ProductEnds ends(MatrixView c, Scale s, const Epilogue& e);
    /// The epilogue that a fault puts in the place of e; `bias` keeps what it points to.
    Epilogue changed(const Epilogue& e, std::int64_t cols, Buffer& bias) const;
    void catch_up(StreamRole stream);
    void write_row(MatrixView m, std::int64_t r, const double* values);
    void add_to(MatrixView m, std::int64_t r, std::int64_t c, double x);

    Fault fault_;
    double times_;
    bool first_;
    std::map<const PreparedMatrix*, Csr> csr_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> before_;  ///< results by shape
    std::vector<Event> unwaited_;
    std::map<const void*, ConstMatrixView> copied_;  ///< from where, by what it was copied to
};

}  // namespace gnnbench::faults
