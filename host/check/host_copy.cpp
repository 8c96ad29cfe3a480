#include "check/host_copy.hpp"

#include "core/mpi_check.hpp"

namespace gnnbench {

void settle(Backend& backend, StreamRole stream) {
    for (const Event done = backend.record(stream); !done.ready();) {
        int flag = 0;
        check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
    }
}

std::vector<double> read_numbers(Backend& backend, const void* data, std::int64_t count, DType dtype,
                                 StreamRole stream) {
    if (dtype == DType::f64) return read_array(backend, static_cast<const double*>(data), count, stream);
    const auto narrow = read_array(backend, static_cast<const float*>(data), count, stream);
    return {narrow.begin(), narrow.end()};
}

HostMatrix read_view(Backend& backend, ConstMatrixView m, StreamRole stream) {
    HostMatrix out(m.rows, m.cols);
    if (m.empty()) return out;
    if (m.contiguous()) {
        out.values = read_numbers(backend, m.data, m.rows * m.cols, m.dtype, stream);
        return out;
    }
    const auto all = read_numbers(backend, m.data, (m.rows - 1) * m.ld + m.cols, m.dtype, stream);
    for (std::int64_t r = 0; r < m.rows; ++r)
        std::copy_n(all.begin() + r * m.ld, m.cols, out.values.begin() + r * m.cols);
    return out;
}

HostEpilogue read_epilogue(Backend& backend, const Epilogue& e, std::int64_t rows, std::int64_t cols) {
    HostEpilogue h{.bias = {}, .activation = e.activation, .dropout = e.dropout, .row_ids = {}};
    if (e.bias) h.bias = read_numbers(backend, e.bias, cols, backend.dtype());
    if (e.dropout.active()) h.row_ids = read_array(backend, e.row_ids, rows);
    return h;
}

}  // namespace gnnbench
