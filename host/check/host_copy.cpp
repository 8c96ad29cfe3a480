#include "check/host_copy.hpp"

#include <algorithm>

#include "check/of_processes.hpp"

namespace gnnbench {

void settle(Backend& backend, StreamRole stream) {
    const Event done = backend.record(stream);
    if (!done.ready() && done.state()->needs_a_wait()) return backend.synchronize(stream);
    while (!done.ready()) let_messages_through();
}

std::vector<double> read_numbers(Backend& backend, const void* data, std::int64_t count, DType dtype,
                                 StreamRole stream) {
    if (dtype == DType::f64) return read_array(backend, static_cast<const double*>(data), count, stream);
    // Piece by piece: a second whole copy would cost as much as the first in pages of new memory.
    constexpr std::int64_t most = 1 << 18;
    std::vector<float> piece(usize(std::min(count, most)));
    std::vector<double> out;
    out.reserve(usize(count));
    settle(backend, stream);
    for (std::int64_t at = 0; at < count; at += most) {
        const std::size_t n = usize(std::min(most, count - at));
        backend.download_bytes(static_cast<const float*>(data) + at, piece.data(), n * sizeof(float), stream);
        out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n));
    }
    return out;
}

HostMatrix read_view(Backend& backend, ConstMatrixView m, StreamRole stream) {
    if (!m.empty() && m.contiguous()) {
        HostMatrix out;
        out.rows = m.rows;
        out.cols = m.cols;
        out.values = read_numbers(backend, m.data, m.rows * m.cols, m.dtype, stream);
        return out;
    }
    HostMatrix out(m.rows, m.cols);
    if (m.empty()) return out;
    const auto all = read_numbers(backend, m.data, (m.rows - 1) * m.ld + m.cols, m.dtype, stream);
    for (std::int64_t r = 0; r < m.rows; ++r)
        std::copy_n(all.begin() + r * m.ld, m.cols, out.values.begin() + r * m.cols);
    return out;
}

void write_view(Backend& backend, const HostMatrix& from, MatrixView to) {
    require(to.dtype == DType::f64 && from.rows == to.rows && from.cols == to.cols,
            "a view is written in float64 and from a matrix of its shape");
    if (to.empty()) return;
    if (to.contiguous()) return backend.upload_bytes(from.values.data(), to.data, to.bytes());
    for (std::int64_t r = 0; r < to.rows; ++r)
        backend.upload_bytes(from.values.data() + r * from.cols, static_cast<double*>(to.data) + r * to.ld,
                             usize(to.cols) * sizeof(double));
}

Csr read_csr(Backend& backend, const CsrView& a) {
    Csr read;
    read.rows = a.rows;
    read.cols = a.cols;
    read.indptr = read_array(backend, a.indptr, a.rows + 1);
    read.indices = read_array(backend, a.indices, read.indptr.back());
    read.values = read_numbers(backend, a.values, read.indptr.back(), backend.dtype());
    const auto vertices = [&](const std::int64_t* ids, std::int64_t count, std::vector<GlobalId>& to) {
        if (!ids) return;
        for (const std::int64_t id : read_array(backend, ids, count)) to.push_back(GlobalId{id});
    };
    vertices(a.row_vertices, a.rows, read.row_vertices);
    vertices(a.col_vertices, a.cols, read.col_vertices);
    return read;
}

HostEpilogue read_epilogue(Backend& backend, const Epilogue& e, std::int64_t rows, std::int64_t cols) {
    HostEpilogue h{.bias = {}, .activation = e.activation, .dropout = e.dropout, .row_ids = {}};
    if (e.bias) h.bias = read_numbers(backend, e.bias, cols, backend.dtype());
    if (e.dropout.active()) h.row_ids = read_array(backend, e.row_ids, rows);
    return h;
}

}  // namespace gnnbench
