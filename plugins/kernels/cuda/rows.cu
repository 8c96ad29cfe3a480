// Rows moved, filled, scaled and added, 16 bytes at a time where alignment and width allow.
#include "device_launch.cuh"

namespace gnnbench::cuda {
namespace {

template <class T, int pack>
__global__ void gather_kernel(const Dense<const T> from, const i32* rows, const Dense<T> to) {
    const i64 row = row_here();
    if (row >= to.rows) return;
    const auto* in = reinterpret_cast<const Pack<T, pack>*>(from.data + (rows ? static_cast<i64>(rows[row]) : row) * from.ld);
    auto* out = reinterpret_cast<Pack<T, pack>*>(to.data + row * to.ld);
    for (i64 c = threadIdx.x; c < to.cols / pack; c += blockDim.x) out[c] = in[c];
}

template <class T, int pack>
__global__ void pad_kernel(const Dense<const T> from, const Dense<T> to) {
    const i64 row = row_here();
    if (row >= to.rows) return;
    const T* in = from.data + row * from.ld;
    auto* out = reinterpret_cast<Pack<T, pack>*>(to.data + row * to.ld);
    for (i64 c = threadIdx.x; c < to.cols / pack; c += blockDim.x) {
        Pack<T, pack> v{};
        for (int i = 0; i < pack; ++i)
            if (c * pack + i < from.cols) v.at[i] = in[c * pack + i];
        out[c] = v;
    }
}

template <class T, int pack>
__global__ void scatter_add_kernel(const Dense<const T> from, const i32* rows, const Dense<T> to) {
    const i64 row = row_here();
    if (row >= from.rows) return;
    const auto* in = reinterpret_cast<const Pack<T, pack>*>(from.data + row * from.ld);
    auto* out = reinterpret_cast<Pack<T, pack>*>(to.data + static_cast<i64>(rows[row]) * to.ld);
    for (i64 c = threadIdx.x; c < from.cols / pack; c += blockDim.x) {
        Pack<T, pack> sum = out[c];
        const Pack<T, pack> x = in[c];
        for (int i = 0; i < pack; ++i) sum.at[i] += x.at[i];
        out[c] = sum;
    }
}

template <class T, int pack>
__global__ void axpby_kernel(const T alpha, const Dense<const T> x, const T beta, const Dense<T> y) {
    const i64 row = row_here();
    if (row >= y.rows) return;
    const auto* in = reinterpret_cast<const Pack<T, pack>*>(x.data + row * x.ld);
    auto* out = reinterpret_cast<Pack<T, pack>*>(y.data + row * y.ld);
    for (i64 c = threadIdx.x; c < y.cols / pack; c += blockDim.x) {
        const Pack<T, pack> added = in[c];
        Pack<T, pack> sum = out[c];
        for (int i = 0; i < pack; ++i) sum.at[i] = alpha * added.at[i] + beta * sum.at[i];
        out[c] = sum;
    }
}

constexpr int warps = block_threads / 32;

/// partial[block] and partial[gridDim + block] ← the block's share of Σ (x − y)² and Σ y²; a warp has a row.
template <class T>
__global__ void __launch_bounds__(block_threads)
    distance_kernel(const Dense<const T> x, const Dense<const T> y, double* partial) {
    __shared__ double sums[2 * warps];
    double apart = 0, size = 0;
    for (i64 row = row_here(); row < x.rows; row += static_cast<i64>(gridDim.x) * warps)
        for (i64 c = threadIdx.x; c < x.cols; c += 32) {
            const double of_y = static_cast<double>(y.data[row * y.ld + c]);
            const double difference = static_cast<double>(x.data[row * x.ld + c]) - of_y;
            apart += difference * difference;
            size += of_y * of_y;
        }
    apart = warp_sum(apart), size = warp_sum(size);
    if (threadIdx.x == 0) sums[threadIdx.y] = apart, sums[warps + threadIdx.y] = size;
    __syncthreads();
    if (threadIdx.x > 1 || threadIdx.y != 0) return;
    double sum = 0;
    for (int w = 0; w < warps; ++w) sum += sums[threadIdx.x * warps + w];
    partial[threadIdx.x * gridDim.x + blockIdx.x] = sum;
}

/// out[block] ← Σ of that block's `count` partial sums, by one warp.
__global__ void sums_kernel(const double* partial, const i64 count, double* out) {
    double sum = 0;
    for (i64 i = threadIdx.x; i < count; i += 32) sum += partial[blockIdx.x * count + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// m ← keep · m + value, without reading m where keep is 0.
template <class T, int pack>
__global__ void fill_kernel(const Dense<T> m, const T keep, const T value) {
    const i64 row = row_here();
    if (row >= m.rows) return;
    auto* out = reinterpret_cast<Pack<T, pack>*>(m.data + row * m.ld);
    for (i64 c = threadIdx.x; c < m.cols / pack; c += blockDim.x) {
        Pack<T, pack> v;
        for (int i = 0; i < pack; ++i) v.at[i] = value;
        if (keep != T(0)) {
            const Pack<T, pack> old = out[c];
            for (int i = 0; i < pack; ++i) v.at[i] += keep * old.at[i];
        }
        out[c] = v;
    }
}

/// Calls f with the pack as a constant: 16 bytes, 8 bytes of float32, or one element.
template <class T, class F>
cudaError_t with_pack(int pack, F&& f) {
    if constexpr (packs_of<T>.most == 4)
        if (pack == 4) return f.template operator()<4>();
    if (pack == 2) return f.template operator()<2>();
    return f.template operator()<1>();
}

template <class T>
cudaError_t fill_or_scale(Dense<T> m, T keep, T value, cudaStream_t stream) {
    if (m.rows == 0 || m.cols == 0) return cudaSuccess;
    const int pack = packs_of<T>.pack(m.cols, m.data, m.ld), lanes = side_by_side(m.cols / pack);
    return with_pack<T>(pack, [&]<int p>() {
        return enqueue(fill_kernel<T, p>, rows_grid(m.rows, lanes), rows_block(lanes), stream, m, keep, value);
    });
}

}  // namespace

template <class T>
cudaError_t fill(Dense<T> m, T value, cudaStream_t stream) {
    return fill_or_scale(m, T(0), value, stream);
}

template <class T>
cudaError_t scale(Dense<T> m, T factor, cudaStream_t stream) {
    return fill_or_scale(m, factor, T(0), stream);
}

template <class T>
cudaError_t axpby(T alpha, Dense<const T> x, T beta, Dense<T> y, cudaStream_t stream) {
    if (y.rows == 0 || y.cols == 0) return cudaSuccess;
    const int pack = packs_of<T>.pack(y.cols, x.data, x.ld, y.data, y.ld), lanes = side_by_side(y.cols / pack);
    return with_pack<T>(pack, [&]<int p>() {
        return enqueue(axpby_kernel<T, p>, rows_grid(y.rows, lanes), rows_block(lanes), stream, alpha, x, beta, y);
    });
}

i64 distance_blocks(i64 rows) {
    constexpr i64 most = 1024;
    const i64 blocks = divided_up(rows, warps);
    return blocks < 1 ? 1 : blocks < most ? blocks : most;
}

template <class T>
cudaError_t squared_distance(Dense<const T> x, Dense<const T> y, double* partial, double* out, cudaStream_t stream) {
    const i64 blocks = distance_blocks(x.rows);
    const cudaError_t error = enqueue(distance_kernel<T>, dim3(static_cast<unsigned>(blocks)), dim3(32, warps), stream, x, y, partial);
    if (error != cudaSuccess) return error;
    return enqueue(sums_kernel, dim3(2), dim3(32), stream, partial, blocks, out);
}

template <class T>
cudaError_t gather_rows(Dense<const T> from, const i32* rows, Dense<T> to, cudaStream_t stream) {
    if (to.rows == 0 || to.cols == 0) return cudaSuccess;
    const int pack = packs_of<T>.pack(to.cols, from.data, from.ld, to.data, to.ld), lanes = side_by_side(to.cols / pack);
    return with_pack<T>(pack, [&]<int p>() {
        return enqueue(gather_kernel<T, p>, rows_grid(to.rows, lanes), rows_block(lanes), stream, from, rows, to);
    });
}

template <class T>
cudaError_t pad_rows(Dense<const T> from, Dense<T> to, cudaStream_t stream) {
    if (to.rows == 0 || to.cols == 0) return cudaSuccess;
    constexpr int pack = packs_of<T>.most;
    const int lanes = side_by_side(to.cols / pack);
    return enqueue(pad_kernel<T, pack>, rows_grid(to.rows, lanes), rows_block(lanes), stream, from, to);
}

template <class T>
cudaError_t scatter_add_rows(Dense<const T> from, const i32* rows, Dense<T> to, cudaStream_t stream) {
    if (from.rows == 0 || from.cols == 0) return cudaSuccess;
    const int pack = packs_of<T>.pack(from.cols, from.data, from.ld, to.data, to.ld), lanes = side_by_side(from.cols / pack);
    return with_pack<T>(pack, [&]<int p>() {
        return enqueue(scatter_add_kernel<T, p>, rows_grid(from.rows, lanes), rows_block(lanes), stream, from, rows, to);
    });
}

#define GNNBENCH_INSTANTIATE(T)                                                                \
    template cudaError_t fill(Dense<T>, T, cudaStream_t);                                       \
    template cudaError_t scale(Dense<T>, T, cudaStream_t);                                      \
    template cudaError_t axpby(T, Dense<const T>, T, Dense<T>, cudaStream_t);                   \
    template cudaError_t squared_distance(Dense<const T>, Dense<const T>, double*, double*, cudaStream_t); \
    template cudaError_t gather_rows(Dense<const T>, const i32*, Dense<T>, cudaStream_t);       \
    template cudaError_t pad_rows(Dense<const T>, Dense<T>, cudaStream_t);                      \
    template cudaError_t scatter_add_rows(Dense<const T>, const i32*, Dense<T>, cudaStream_t);
GNNBENCH_INSTANTIATE(float)
GNNBENCH_INSTANTIATE(double)
#undef GNNBENCH_INSTANTIATE

}  // namespace gnnbench::cuda
