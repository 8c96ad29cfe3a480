#pragma once
#include "launch.hpp"
#include "philox.hpp"

// Attention on the device (gnnbench/verbs/attention.hpp has the formulas), and what is computed head by head.
namespace gnnbench::cuda {

/// A warp's first lanes have a head each.
constexpr int most_heads = 32;

/// A block of the matrix, all of whose rows are stored.
template <class T>
struct Entries {
    const i64* indptr = nullptr;
    const i32* indices = nullptr;
    const T* values = nullptr;
    i64 rows = 0;
};

/// Attention's dropout of entries, by the vertices that attend and those attended to.
struct EntryMask {
    Mask mask;
    const i64 *rows = nullptr, *columns = nullptr;
};

template <class T>
struct AttendCall {
    Entries<T> a;
    EntryMask dropout;
    T kept_scale = 1;  ///< of what is not dropped
    int heads = 1;
    T slope = 0;
    Dense<const T> b, l;
    Dense<T> z, slopes, maxima, sums, slope_sums;  ///< slopes without columns: not wanted
    bool first = true, last = true;
};
template <class T>
cudaError_t attend(const AttendCall<T>& call, cudaStream_t stream);

template <class T>
struct AttendBackwardCall {
    Entries<T> a;       ///< of Aᵀ
    EntryMask dropout;  ///< its rows are a's columns
    T kept_scale = 1;
    int heads = 1;
    T slope = 0;
    Dense<const T> b, own;
    Dense<T> c;
    bool first = true;
};
template <class T>
cudaError_t attend_backward(const AttendBackwardCall<T>& call, cudaStream_t stream);

/// y has one row for all, or as many as x.
template <class T>
cudaError_t head_dots(Dense<const T> x, Dense<const T> y, Dense<T> out, cudaStream_t stream);
/// Parts into which the rows of a sum are cut; partial sums are double [parts × columns of x].
i64 head_sum_parts(i64 rows);
template <class T>
cudaError_t head_sums(Dense<const T> s, Dense<const T> x, double* partial, T* out, cudaStream_t stream);
template <class T>
cudaError_t add_heads(Dense<const T> s, const T* a, Dense<T> y, cudaStream_t stream);
template <class T>
cudaError_t rescale_heads(Dense<const T> from, Dense<const T> to, Dense<T> y, cudaStream_t stream);
template <class T>
cudaError_t mean_of_heads(Dense<const T> x, Dense<T> out, cudaStream_t stream);
template <class T>
cudaError_t spread_to_heads(Dense<const T> g, Dense<T> out, cudaStream_t stream);

}  // namespace gnnbench::cuda
