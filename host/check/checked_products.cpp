// Checks of prepared matrices and products.
#include <fmt/format.h>

#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/transport.hpp>

#include "check/checked_backend.hpp"
#include "check/checked_transport.hpp"
#include "check/judge_products.hpp"
#include "check/kept_matrix.hpp"

namespace gnnbench {
namespace {

std::string text(const char* what, std::int64_t rows, std::int64_t inner, std::int64_t cols) {
    return fmt::format("{}[{}x{}] x [{}x{}]", what, rows, inner, inner, cols);
}

/// What a product ends with, before it is made.
template <class Product>
ProductEnds ends_of(Backend& k, const Product& v) {
    return {v.s.beta != 0 ? read_view(k, v.c) : HostMatrix(), v.s, read_epilogue(k, v.e, v.c.rows, v.c.cols)};
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

Csr CheckedBackend::read(const CsrView& a) {
    const auto check = [&](const void* data, std::int64_t count, std::size_t size) {
        in_flight_->check_access("spmm", data, count * static_cast<std::int64_t>(size), false);
    };
    check(a.indptr, a.rows + 1, sizeof *a.indptr);
    Csr read = read_csr(inner(), a);
    check(a.indices, read.nonzeros(), sizeof *a.indices);
    check(a.values, read.nonzeros(), size_of(dtype()));
    return read;
}

std::unique_ptr<PreparedMatrix> CheckedBackend::do_refer(const CsrView& a) {
    auto kept = std::make_unique<KeptMatrix>();
    kept->prepared = inner().refer(a);
    kept->csr = read(a);
    return kept;
}

void CheckedBackend::judge(const verb::Spmm& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix operand = read_view(inner(), v.b);
    const ProductEnds ends = ends_of(inner(), v);
    inner().run(verb::Spmm{*kept.prepared, v.b, v.c, v.s, v.e});
    Judgement judgement(*ledger_, "spmm", text((kept.format + " ").c_str(), v.a.rows, v.a.cols, v.c.cols));
    judge_spmm(judgement, {read_view(inner(), v.c), ends, rounding_of(dtype()), threads_}, kept.csr.indptr,
               kept.csr.indices, kept.csr.values, operand);
}

void CheckedBackend::judge(const verb::SpmmTransposed& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix operand = read_view(inner(), v.b);
    const ProductEnds ends = ends_of(inner(), v);
    inner().run(verb::SpmmTransposed{*kept.prepared, v.b, v.c, v.s, v.e});
    Judgement judgement(*ledger_, "spmm-transposed",
                        text((kept.format + " ").c_str(), v.a.cols, v.a.rows, v.c.cols));
    judge_spmm(judgement, {read_view(inner(), v.c), ends, rounding_of(dtype()), threads_}, kept.transpose.indptr,
               kept.transpose.indices, kept.transpose.values, operand);
}

void CheckedBackend::judge(const verb::SpmmUnprepared& v) {
    const Csr a = read(v.a);
    const HostMatrix operand = read_view(inner(), v.b);
    const ProductEnds ends = ends_of(inner(), v);
    inner().run(v);
    Judgement judgement(*ledger_, "spmm", text("unprepared ", v.a.rows, v.a.cols, v.c.cols));
    judge_spmm(judgement, {read_view(inner(), v.c), ends, rounding_of(dtype()), threads_}, a.indptr, a.indices,
               a.values, operand);
}

void CheckedBackend::judge(const verb::Gemm& v) {
    const HostMatrix left = read_view(inner(), v.a), right = read_view(inner(), v.b);
    const ProductEnds ends = ends_of(inner(), v);
    inner().run(v);
    Judgement judgement(*ledger_, "gemm", text("", v.c.rows, v.inner(), v.c.cols));
    judge_gemm(judgement, {read_view(inner(), v.c), ends, rounding_of(dtype()), threads_}, v.ta, left, v.tb,
               right);
}

}  // namespace gnnbench
