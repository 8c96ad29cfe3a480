#pragma once
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// Reading and writing device memory for checks, strided views too.

/// Waits until the device has completed `stream`'s work, while MPI progresses: a rank blocked in a device's wait
/// could hold up the control messages that another rank waits for.
void settle(Backend& backend, StreamRole stream);

/// Any view, in float64.
HostMatrix read_view(Backend& backend, ConstMatrixView m, StreamRole stream = StreamRole::compute);
/// The reverse, into a view of float64.
void write_view(Backend& backend, const HostMatrix& from, MatrixView to);

template <class T>
std::vector<T> read_array(Backend& backend, const T* data, std::int64_t count,
                          StreamRole stream = StreamRole::compute) {
    std::vector<T> out(usize(count));
    settle(backend, stream);
    backend.download_bytes(data, out.data(), out.size() * sizeof(T), stream);
    return out;
}

/// `count` numbers of the back end's type (or another), in float64.
std::vector<double> read_numbers(Backend& backend, const void* data, std::int64_t count, DType dtype,
                                 StreamRole stream = StreamRole::compute);

/// A matrix in device memory, of numbers of the back end's type, with its vertices' ids where it has them.
Csr read_csr(Backend& backend, const CsrView& a);

/// An epilogue with its arrays on the host.
struct HostEpilogue {
    std::vector<double> bias;  ///< length cols, or empty
    Activation activation = Activation::identity;
    DropoutMask dropout;
    std::vector<std::int64_t> row_ids;  ///< length rows, or empty

    bool dropped(std::int64_t row, std::int64_t col) const {
        return dropout.active() && dropout.dropped(row_ids[usize(row)], static_cast<std::uint32_t>(col));
    }
};
HostEpilogue read_epilogue(Backend& backend, const Epilogue& e, std::int64_t rows, std::int64_t cols);

}  // namespace gnnbench
