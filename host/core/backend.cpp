#include <gnnbench/backend.hpp>

#include <utility>

#include <gnnbench/error.hpp>
#include <gnnbench/transport.hpp>

namespace gnnbench {

Backend::~Backend() = default;
BackendPlugin::~BackendPlugin() = default;

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

std::unique_ptr<PreparedMatrix> Backend::prepare_timed(Prepare prepare, const Csr& a, TransposedProducts t) {
    require(
        a.row_vertices.empty() || (std::ssize(a.row_vertices) == a.rows && std::ssize(a.col_vertices) == a.cols),
        "a sparse matrix names the vertices of all its rows and columns, or of none");
    SetupTimer timer(&prepare_cost_);
    const auto before = memory().current_bytes;
    auto prepared = (this->*prepare)(a, t);
    timer.add_bytes(static_cast<std::int64_t>(memory().current_bytes - before));
    return described(std::move(prepared), {a.rows, a.cols, a.nonzeros()}, t);
}

std::unique_ptr<PreparedMatrix> Backend::prepare(const Csr& a, TransposedProducts t) {
    return prepare_timed(&Backend::do_prepare, a, t);
}

std::unique_ptr<PreparedMatrix> Backend::prepare_as_sized(const Csr& a, TransposedProducts t) {
    return prepare_timed(&Backend::do_prepare_as_sized, a, t);
}

std::unique_ptr<PreparedMatrix> Backend::prepare(const SparseSize& a, TransposedProducts t) {
    return described(do_prepare_size(a, t), a, t);
}

std::unique_ptr<PreparedMatrix> Backend::refer(const CsrView& a) {
    return described(do_refer(a), {a.rows, a.cols, a.nonzeros}, TransposedProducts::none);
}

std::unique_ptr<PreparedMatrix> Backend::do_prepare_size(const SparseSize&, TransposedProducts) {
    throw LogicError("this back end holds values, so it needs those of a sparse matrix");
}

std::unique_ptr<Transport> Backend::connect(const ProcessGroup& group) { return do_connect(group); }

}  // namespace gnnbench
