// Checks of prepared matrices and products.
#include <fmt/format.h>

#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/transport.hpp>

#include "check/checked_backend.hpp"
#include "check/checked_transport.hpp"
#include "check/judge_products.hpp"

namespace gnnbench {
namespace {

/// A matrix that the back end under test prepared, and the matrix that it was prepared from.
struct KeptMatrix final : PreparedMatrix {
    std::unique_ptr<PreparedMatrix> prepared;
    Csr csr, transpose;  ///< the latter where its products are wanted
};

std::string text(const char* what, std::int64_t rows, std::int64_t inner, std::int64_t cols) {
    return fmt::format("{}[{}x{}] x [{}x{}]", what, rows, inner, inner, cols);
}

}  // namespace

CheckedBackend::CheckedBackend(std::unique_ptr<Backend> under_test, std::shared_ptr<Ledger> ledger, int threads)
    : ForwardingBackend(std::move(under_test)),
      ledger_(std::move(ledger)),
      in_flight_(std::make_shared<InFlight>(ledger_)),
      threads_(threads) {}

void CheckedBackend::do_copy_in(const void* host, void* device, std::size_t bytes) {
    in_flight_->check_access("upload", device, static_cast<std::int64_t>(bytes), true);
    inner().upload_bytes(host, device, bytes);
}

void CheckedBackend::do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) {
    in_flight_->check_access("download", device, static_cast<std::int64_t>(bytes), false);
    settle(inner(), stream);
    inner().download_bytes(device, host, bytes, stream);
}

void CheckedBackend::do_wait(StreamRole stream, const Event& event) {
    auto* checked = dynamic_cast<CheckedEvent*>(event.state());
    if (!checked) return inner().wait(stream, event);
    inner().wait(stream, checked->inner());
    checked->judge(stream);
}

std::unique_ptr<Transport> CheckedBackend::do_connect(const ProcessGroup& group) {
    return std::make_unique<CheckedTransport>(inner().connect(group), group.split(0, group.rank()), inner(),
                                              ledger_, in_flight_);
}

std::unique_ptr<PreparedMatrix> CheckedBackend::do_prepare(const Csr& a, TransposedProducts t) {
    auto kept = std::make_unique<KeptMatrix>();
    kept->prepared = inner().prepare(a, t);
    kept->format = kept->prepared->format;
    kept->csr = a;
    if (t == TransposedProducts::wanted) kept->transpose = transposed(a);
    return kept;
}

void CheckedBackend::do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                             const Epilogue& e) {
    const auto& kept = static_cast<const KeptMatrix&>(a);
    reads("spmm", b);
    writes("spmm", c);
    const HostMatrix operand = read_view(inner(), b);
    const ProductEnds ends{s.beta != 0 ? read_view(inner(), c) : HostMatrix(), s,
                           read_epilogue(inner(), e, c.rows, c.cols)};
    inner().spmm(*kept.prepared, b, c, s, e);
    Judgement judgement(*ledger_, "spmm", text((kept.format + " ").c_str(), a.rows, a.cols, c.cols));
    judge_spmm(judgement, {read_view(inner(), c), ends, rounding_of(dtype()), threads_}, kept.csr.indptr,
               kept.csr.indices, kept.csr.values, operand);
}

void CheckedBackend::do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                                        const Epilogue& e) {
    const auto& kept = static_cast<const KeptMatrix&>(a);
    reads("spmm-transposed", b);
    writes("spmm-transposed", c);
    const HostMatrix operand = read_view(inner(), b);
    const ProductEnds ends{s.beta != 0 ? read_view(inner(), c) : HostMatrix(), s,
                           read_epilogue(inner(), e, c.rows, c.cols)};
    inner().spmm_transposed(*kept.prepared, b, c, s, e);
    Judgement judgement(*ledger_, "spmm-transposed", text((kept.format + " ").c_str(), a.cols, a.rows, c.cols));
    judge_spmm(judgement, {read_view(inner(), c), ends, rounding_of(dtype()), threads_}, kept.transpose.indptr,
               kept.transpose.indices, kept.transpose.values, operand);
}

void CheckedBackend::do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    reads("spmm", b);
    writes("spmm", c);
    in_flight_->check_access("spmm", a.indptr, (a.rows + 1) * static_cast<std::int64_t>(sizeof *a.indptr), false);
    const auto indptr = read_array(inner(), a.indptr, a.rows + 1);
    const std::int64_t nonzeros = indptr.back();
    in_flight_->check_access("spmm", a.indices, nonzeros * static_cast<std::int64_t>(sizeof *a.indices), false);
    in_flight_->check_access("spmm", a.values, nonzeros * static_cast<std::int64_t>(size_of(dtype())), false);
    const auto indices = read_array(inner(), a.indices, nonzeros);
    const auto values = read_numbers(inner(), a.values, nonzeros, dtype());
    const HostMatrix operand = read_view(inner(), b);
    const ProductEnds ends{s.beta != 0 ? read_view(inner(), c) : HostMatrix(), s,
                           read_epilogue(inner(), e, c.rows, c.cols)};
    inner().spmm(a, b, c, s, e);
    Judgement judgement(*ledger_, "spmm", text("unprepared ", a.rows, a.cols, c.cols));
    judge_spmm(judgement, {read_view(inner(), c), ends, rounding_of(dtype()), threads_}, indptr, indices, values,
               operand);
}

void CheckedBackend::do_gemm(Transpose ta, ConstMatrixView a, Transpose tb, ConstMatrixView b, MatrixView c,
                             Scale s, const Epilogue& e) {
    reads("gemm", a);
    reads("gemm", b);
    writes("gemm", c);
    const HostMatrix left = read_view(inner(), a), right = read_view(inner(), b);
    const ProductEnds ends{s.beta != 0 ? read_view(inner(), c) : HostMatrix(), s,
                           read_epilogue(inner(), e, c.rows, c.cols)};
    inner().gemm(ta, a, tb, b, c, s, e);
    Judgement judgement(*ledger_, "gemm", text("", c.rows, ta == Transpose::no ? a.cols : a.rows, c.cols));
    judge_gemm(judgement, {read_view(inner(), c), ends, rounding_of(dtype()), threads_}, ta, left, tb, right);
}

}  // namespace gnnbench
