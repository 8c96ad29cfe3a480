// Softmax cross entropy, forward and backward in one pass over the logits, whole rows or shards of them; accuracy.
// Binary cross-entropy likewise, and the counts of micro-F1. A warp has a row; sums go through partial sums of blocks
// in a fixed order, so that results repeat to the bit.
#include "device_launch.cuh"

namespace gnnbench::cuda {
namespace {

constexpr int warps = block_threads / 32;

template <class T>
__device__ __forceinline__ T lowest() {
    return -static_cast<T>(INFINITY);
}

/// partial[block] ← the sum over the block's warps of lane 0's `mine`.
__device__ __forceinline__ void sum_of_block(double mine, double* partial) {
    __shared__ double sums[warps];
    if (threadIdx.x == 0) sums[threadIdx.y] = mine;
    __syncthreads();
    if (threadIdx.x != 0 || threadIdx.y != 0) return;
    double sum = 0;
    for (int w = 0; w < warps; ++w) sum += sums[w];
    partial[blockIdx.x] = sum;
}

/// out ← Σ partial, by one block of one warp.
__global__ void total_kernel(const double* partial, const i64 count, double* out) {
    double sum = 0;
    for (i64 i = threadIdx.x; i < count; i += 32) sum += partial[i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}

template <class T>
__device__ __forceinline__ T row_maximum(const T* x, i64 cols) {
    T top = lowest<T>();
    for (i64 c = threadIdx.x; c < cols; c += 32) top = x[c] > top ? x[c] : top;
    return warp_maximum(top);
}

template <class T>
__device__ __forceinline__ T row_exp_sum(const T* x, T top, i64 cols) {
    T sum = 0;
    for (i64 c = threadIdx.x; c < cols; c += 32) sum += exp_of(x[c] - top);
    return warp_sum(sum);
}

/// g ← (exp(x − top) / sum − [c = label]) · scale over this shard's columns; g may be x.
template <class T>
__device__ __forceinline__ void write_gradient(const T* x, T* g, i64 cols, T top, T sum, i64 label, T scale) {
    const T share = scale / sum;
    for (i64 c = threadIdx.x; c < cols; c += 32) g[c] = exp_of(x[c] - top) * share - (c == label ? scale : T(0));
}

/// −log p of the label's logit; all lanes read it before any lane writes the gradient over it.
template <class T>
__device__ __forceinline__ double negative_log(const T* x, i64 label, T top, T sum) {
    const double of_label = static_cast<double>(x[label]);
    __syncwarp();
    return log(static_cast<double>(sum)) + (static_cast<double>(top) - of_label);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    cross_entropy_kernel(const Dense<const T> logits, const Counted in, const Dense<T> grad, double* partial) {
    double loss = 0;
    for (i64 row = row_here(); row < logits.rows; row += static_cast<i64>(gridDim.x) * warps) {
        const T* x = logits.data + row * logits.ld;
        T* g = grad.data + row * grad.ld;
        const i64 label = in.labels[row];
        if (in.split[row] != in.counted || label < 0 || label >= logits.cols) {
            for (i64 c = threadIdx.x; c < logits.cols; c += 32) g[c] = T(0);
            continue;
        }
        const T top = row_maximum(x, logits.cols), sum = row_exp_sum(x, top, logits.cols);
        loss += negative_log(x, label, top, sum) * in.scale;
        write_gradient(x, g, logits.cols, top, sum, label, static_cast<T>(in.scale));
    }
    sum_of_block(loss, partial);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    shard_kernel(const Dense<const T> logits, const Dense<const T> maxima, const Dense<const T> sums, const i64 first_class,
                 const Counted in, const Dense<T> grad, double* partial) {
    double loss = 0;
    for (i64 row = row_here(); row < logits.rows; row += static_cast<i64>(gridDim.x) * warps) {
        const T* x = logits.data + row * logits.ld;
        T* g = grad.data + row * grad.ld;
        if (in.split[row] != in.counted) {
            for (i64 c = threadIdx.x; c < logits.cols; c += 32) g[c] = T(0);
            continue;
        }
        const T top = maxima.data[row * maxima.ld], sum = sums.data[row * sums.ld];
        const i64 label = in.labels[row] - first_class;
        if (label >= 0 && label < logits.cols) loss += negative_log(x, label, top, sum) * in.scale;
        write_gradient(x, g, logits.cols, top, sum, label, static_cast<T>(in.scale));
    }
    sum_of_block(loss, partial);
}

template <class T>
__global__ void maxima_kernel(const Dense<const T> logits, const Dense<T> maxima) {
    const i64 row = row_here();
    if (row >= logits.rows) return;
    const T top = row_maximum(logits.data + row * logits.ld, logits.cols);
    if (threadIdx.x == 0) maxima.data[row * maxima.ld] = top;
}

template <class T>
__global__ void exp_sums_kernel(const Dense<const T> logits, const Dense<const T> maxima, const Dense<T> sums) {
    const i64 row = row_here();
    if (row >= logits.rows) return;
    const T sum = row_exp_sum(logits.data + row * logits.ld, maxima.data[row * maxima.ld], logits.cols);
    if (threadIdx.x == 0) sums.data[row * sums.ld] = sum;
}

/// counts[2 (s − 1)] correct, [2 (s − 1) + 1] all rows of split s.
template <class T>
__global__ void __launch_bounds__(block_threads)
    correct_kernel(const Dense<const T> logits, const Counted in, unsigned long long* counts) {
    __shared__ unsigned block_counts[6];
    const int thread = static_cast<int>(threadIdx.y * 32 + threadIdx.x);
    if (thread < 6) block_counts[thread] = 0;
    __syncthreads();
    for (i64 row = row_here(); row < logits.rows; row += static_cast<i64>(gridDim.x) * warps) {
        const int split = in.split[row];
        if (split == 0) continue;
        const T* x = logits.data + row * logits.ld;
        T top = lowest<T>();
        i64 best = logits.cols;   // of equal logits the first one counts
        for (i64 c = threadIdx.x; c < logits.cols; c += 32)
            if (x[c] > top || best == logits.cols) top = x[c], best = c;
        for (int step = 16; step > 0; step /= 2) {
            const T other = __shfl_xor_sync(0xffffffffu, top, step);
            const i64 at = __shfl_xor_sync(0xffffffffu, best, step);
            if (at < logits.cols && (best == logits.cols || other > top || (other == top && at < best))) top = other, best = at;
        }
        if (threadIdx.x != 0) continue;
        if (best == in.labels[row]) atomicAdd(&block_counts[2 * (split - 1)], 1u);
        atomicAdd(&block_counts[2 * (split - 1) + 1], 1u);
    }
    __syncthreads();
    if (thread < 6 && block_counts[thread] > 0) atomicAdd(&counts[thread], static_cast<unsigned long long>(block_counts[thread]));
}

/// With t = −x where y = 1, else x: the loss log(1 + eᵗ), whose derivative by x is ±σ(t); g may be x.
template <class T>
__global__ void __launch_bounds__(block_threads)
    binary_kernel(const Dense<const T> logits, const Counted in, const Dense<T> grad, double* partial) {
    const T scale = static_cast<T>(in.scale);
    double loss = 0;
    for (i64 row = row_here(); row < logits.rows; row += static_cast<i64>(gridDim.x) * warps) {
        const T* x = logits.data + row * logits.ld;
        T* g = grad.data + row * grad.ld;
        const std::uint8_t* y = in.label_matrix + row * logits.cols;
        const bool counted = in.split[row] == in.counted;
        for (i64 c = threadIdx.x; c < logits.cols; c += 32) {
            if (!counted) {
                g[c] = T(0);
                continue;
            }
            const T sign = y[c] != 0 ? T(-1) : T(1), t = sign * x[c], e = exp_of(t < T(0) ? t : -t);
            loss += static_cast<double>(t > T(0) ? t : T(0)) + static_cast<double>(log_of_one_plus(e));
            g[c] = sign * scale * (t > T(0) ? T(1) : e) / (T(1) + e);
        }
    }
    sum_of_block(warp_sum(loss) * in.scale, partial);
}

/// counts[3 (s − 1)] true positives, [3 (s − 1) + 1] false positives, [3 (s − 1) + 2] false negatives of split s.
template <class T>
__global__ void __launch_bounds__(block_threads)
    positives_kernel(const Dense<const T> logits, const Counted in, unsigned long long* counts) {
    __shared__ unsigned long long block_counts[9];
    const int thread = static_cast<int>(threadIdx.y * 32 + threadIdx.x);
    if (thread < 9) block_counts[thread] = 0;
    __syncthreads();
    for (i64 row = row_here(); row < logits.rows; row += static_cast<i64>(gridDim.x) * warps) {
        const int split = in.split[row];
        if (split == 0) continue;
        const T* x = logits.data + row * logits.ld;
        const std::uint8_t* y = in.label_matrix + row * logits.cols;
        int both = 0, claimed = 0, labels = 0;
        for (i64 c = threadIdx.x; c < logits.cols; c += 32) {
            const int claims = x[c] > T(0), has = y[c] != 0;
            both += claims & has;
            claimed += claims;
            labels += has;
        }
        both = warp_sum(both), claimed = warp_sum(claimed), labels = warp_sum(labels);
        if (threadIdx.x != 0) continue;
        unsigned long long* of_split = block_counts + 3 * (split - 1);
        atomicAdd(of_split, static_cast<unsigned long long>(both));
        atomicAdd(of_split + 1, static_cast<unsigned long long>(claimed - both));
        atomicAdd(of_split + 2, static_cast<unsigned long long>(labels - both));
    }
    __syncthreads();
    if (thread < 9 && block_counts[thread] > 0) atomicAdd(&counts[thread], block_counts[thread]);
}

cudaError_t total(const double* partial, i64 count, double* loss, cudaStream_t stream) {
    return enqueue(total_kernel, dim3(1), dim3(32), stream, partial, count, loss);
}

}  // namespace

i64 loss_blocks(i64 rows) {
    constexpr i64 most = 2048;
    const i64 blocks = divided_up(rows, warps);
    return blocks < most ? blocks : most;
}

template <class T>
cudaError_t softmax_cross_entropy(Dense<const T> logits, const Counted& in, Dense<T> grad, double* partial, double* loss,
                                  cudaStream_t stream) {
    const i64 blocks = loss_blocks(logits.rows);
    if (blocks > 0) {
        const cudaError_t code = enqueue(cross_entropy_kernel<T>, dim3(static_cast<unsigned>(blocks)), rows_block(32), stream,
                                         logits, in, grad, partial);
        if (code != cudaSuccess) return code;
    }
    return total(partial, blocks, loss, stream);
}

template <class T>
cudaError_t row_maxima(Dense<const T> logits, Dense<T> maxima, cudaStream_t stream) {
    if (logits.rows == 0) return cudaSuccess;
    return enqueue(maxima_kernel<T>, rows_grid(logits.rows, 32), rows_block(32), stream, logits, maxima);
}

template <class T>
cudaError_t row_exp_sums(Dense<const T> logits, Dense<const T> maxima, Dense<T> sums, cudaStream_t stream) {
    if (logits.rows == 0) return cudaSuccess;
    return enqueue(exp_sums_kernel<T>, rows_grid(logits.rows, 32), rows_block(32), stream, logits, maxima, sums);
}

template <class T>
cudaError_t softmax_cross_entropy_shard(Dense<const T> logits, Dense<const T> maxima, Dense<const T> sums, i64 first_class,
                                        const Counted& in, Dense<T> grad, double* partial, double* loss,
                                        cudaStream_t stream) {
    const i64 blocks = loss_blocks(logits.rows);
    if (blocks > 0) {
        const cudaError_t code = enqueue(shard_kernel<T>, dim3(static_cast<unsigned>(blocks)), rows_block(32), stream, logits,
                                         maxima, sums, first_class, in, grad, partial);
        if (code != cudaSuccess) return code;
    }
    return total(partial, blocks, loss, stream);
}

template <class T>
cudaError_t count_correct(Dense<const T> logits, const Counted& in, i64* counts, cudaStream_t stream) {
    static_assert(sizeof(unsigned long long) == sizeof(i64));
    const cudaError_t code = cudaMemsetAsync(counts, 0, 6 * sizeof(i64), stream);
    const i64 blocks = loss_blocks(logits.rows);
    if (code != cudaSuccess || blocks == 0) return code;
    return enqueue(correct_kernel<T>, dim3(static_cast<unsigned>(blocks)), rows_block(32), stream, logits, in,
                   reinterpret_cast<unsigned long long*>(counts));
}

template <class T>
cudaError_t binary_cross_entropy(Dense<const T> logits, const Counted& in, Dense<T> grad, double* partial, double* loss,
                                 cudaStream_t stream) {
    const i64 blocks = loss_blocks(logits.rows);
    if (blocks > 0) {
        const cudaError_t code = enqueue(binary_kernel<T>, dim3(static_cast<unsigned>(blocks)), rows_block(32), stream, logits,
                                         in, grad, partial);
        if (code != cudaSuccess) return code;
    }
    return total(partial, blocks, loss, stream);
}

template <class T>
cudaError_t count_positives(Dense<const T> logits, const Counted& in, i64* counts, cudaStream_t stream) {
    const cudaError_t code = cudaMemsetAsync(counts, 0, 9 * sizeof(i64), stream);
    const i64 blocks = loss_blocks(logits.rows);
    if (code != cudaSuccess || blocks == 0) return code;
    return enqueue(positives_kernel<T>, dim3(static_cast<unsigned>(blocks)), rows_block(32), stream, logits, in,
                   reinterpret_cast<unsigned long long*>(counts));
}

#define GNNBENCH_INSTANTIATE(T)                                                                                       \
    template cudaError_t softmax_cross_entropy(Dense<const T>, const Counted&, Dense<T>, double*, double*, cudaStream_t); \
    template cudaError_t row_maxima(Dense<const T>, Dense<T>, cudaStream_t);                                           \
    template cudaError_t row_exp_sums(Dense<const T>, Dense<const T>, Dense<T>, cudaStream_t);                         \
    template cudaError_t softmax_cross_entropy_shard(Dense<const T>, Dense<const T>, Dense<const T>, i64, const Counted&, \
                                                     Dense<T>, double*, double*, cudaStream_t);                        \
    template cudaError_t count_correct(Dense<const T>, const Counted&, i64*, cudaStream_t);                            \
    template cudaError_t binary_cross_entropy(Dense<const T>, const Counted&, Dense<T>, double*, double*, cudaStream_t); \
    template cudaError_t count_positives(Dense<const T>, const Counted&, i64*, cudaStream_t);
GNNBENCH_INSTANTIATE(float)
GNNBENCH_INSTANTIATE(double)
#undef GNNBENCH_INSTANTIATE

}  // namespace gnnbench::cuda
