// Attention by rows: a warp has a row, its first lanes a head each, and all of them columns. Heads are interleaved, so that
// column c belongs to head c mod H.
#include "attention.cuh"

namespace gnnbench::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(block_threads) attend_kernel(const AttendCall<T> call) {
    const i64 row = row_here();
    if (row >= call.a.rows) return;
    __syncwarp();
    const int lane = static_cast<int>(threadIdx.x), heads = call.heads;
    const bool has_head = lane < heads, slopes = call.slopes.cols > 0;
    const i64 begin = call.a.indptr[row], end = call.a.indptr[row + 1], width = call.z.cols;
    // Of this lane's head: the largest score, and what sums of another maximum are worth.
    const T l = has_head ? call.l.data[row * call.l.ld + lane] : T(0);
    const T before = call.first || !has_head ? minus_infinity<T>() : call.maxima.data[row * call.maxima.ld + lane];
    T top = before;
    if (has_head)
        for (i64 e = begin; e < end; ++e) {
            const T score = leaky(l + call.b.data[call.a.indices[e] * call.b.ld + width + lane], call.slope);
            top = score > top ? score : top;
        }
    const T scale = before == minus_infinity<T>() ? T(0) : exp_of(before - top);
    T sum = call.first || !has_head ? T(0) : call.sums.data[row * call.sums.ld + lane] * scale;
    T slope_sum =
        call.first || !has_head || !slopes ? T(0) : call.slope_sums.data[row * call.slope_sums.ld + lane] * scale;
    for (i64 c0 = 0; c0 < width; c0 += 32 * columns_at_once) {
        T z[columns_at_once], sloped[columns_at_once];
        int head[columns_at_once];
        for (int k = 0; k < columns_at_once; ++k) {
            const i64 c = c0 + lane + 32 * k;
            head[k] = static_cast<int>(c % heads);
            const T by = __shfl_sync(whole_warp, scale, head[k]);
            const bool old = !call.first && c < width;
            z[k] = old ? call.z.data[row * call.z.ld + c] * by : T(0);
            sloped[k] = old && slopes ? call.slopes.data[row * call.slopes.ld + c] * by : T(0);
        }
        for (i64 e = begin; e < end; ++e) {
            const T* operand = call.b.data + call.a.indices[e] * call.b.ld;
            T p = T(0), with_slope = T(0);
            if (has_head) {
                const T argument = l + operand[width + lane];
                p = call.a.values[e] * exp_of(leaky(argument, call.slope) - top);
                with_slope = p * leaky_derivative(argument, call.slope);
            }
            if (c0 == 0) sum += p, slope_sum += with_slope;
            if (has_head) {
                const T m = kept(call.dropout, call.kept_scale, row, call.a.indices[e], lane);
                p *= m;
                with_slope *= m;
            }
            for (int k = 0; k < columns_at_once; ++k) {
                const i64 c = c0 + lane + 32 * k;
                const T weight = __shfl_sync(whole_warp, p, head[k]),
                        of_slope = __shfl_sync(whole_warp, with_slope, head[k]);
                const T x = c < width ? operand[c] : T(0);
                z[k] += weight * x;
                sloped[k] += of_slope * x;
            }
        }
        const T inverse = call.last ? (sum > T(0) ? T(1) / sum : T(0)) : T(1);
        const T share = call.last ? slope_sum * inverse : T(0);
        for (int k = 0; k < columns_at_once; ++k) {
            const i64 c = c0 + lane + 32 * k;
            const T by = __shfl_sync(whole_warp, inverse, head[k]), q = __shfl_sync(whole_warp, share, head[k]);
            if (c >= width) continue;
            const T value = z[k] * by;
            call.z.data[row * call.z.ld + c] = value;
            if (slopes) call.slopes.data[row * call.slopes.ld + c] = sloped[k] * by - q * value;
        }
    }
    if (!has_head) return;
    call.maxima.data[row * call.maxima.ld + lane] = call.last ? (sum > T(0) ? top + log_of(sum) : T(0)) : top;
    call.sums.data[row * call.sums.ld + lane] = sum;
    if (slopes) call.slope_sums.data[row * call.slope_sums.ld + lane] = slope_sum;
}

template <class T>
__global__ void __launch_bounds__(block_threads) attend_backward_kernel(const AttendBackwardCall<T> call) {
    const i64 row = row_here();
    if (row >= call.a.rows) return;
    __syncwarp();
    const int lane = static_cast<int>(threadIdx.x), heads = call.heads;
    const bool has_head = lane < heads;
    const i64 begin = call.a.indptr[row], end = call.a.indptr[row + 1], width = call.own.cols - heads;
    const T* own = call.own.data + row * call.own.ld;
    T* out = call.c.data + row * call.c.ld;
    const T r = has_head ? own[width + lane] : T(0);
    T dr = call.first || !has_head ? T(0) : out[width + lane];
    for (i64 c0 = 0; c0 < width; c0 += 32 * columns_at_once) {
        T dh[columns_at_once];
        int head[columns_at_once];
        for (int k = 0; k < columns_at_once; ++k) {
            const i64 c = c0 + lane + 32 * k;
            head[k] = static_cast<int>(c % heads);
            dh[k] = !call.first && c < width ? out[c] : T(0);
        }
        for (i64 e = begin; e < end; ++e) {
            const T* given = call.b.data + call.a.indices[e] * call.b.ld;  // G_i, l_i, log Σ, D_i
            const T dot = c0 == 0 ? dot_of_head(given, own, width, heads, lane) : T(0);
            T alpha = T(0);
            if (has_head) {
                const T argument = given[width + lane] + r;
                alpha = call.a.values[e] * exp_of(leaky(argument, call.slope) - given[width + heads + lane]);
                const T m = kept(call.dropout, call.kept_scale, call.a.indices[e], row, lane);
                if (c0 == 0)
                    dr += alpha * (m * dot - given[width + 2 * heads + lane]) *
                          leaky_derivative(argument, call.slope);
                alpha *= m;
            }
            for (int k = 0; k < columns_at_once; ++k) {
                const i64 c = c0 + lane + 32 * k;
                const T weight = __shfl_sync(whole_warp, alpha, head[k]);
                if (c < width) dh[k] += weight * given[c];
            }
        }
        for (int k = 0; k < columns_at_once; ++k)
            if (const i64 c = c0 + lane + 32 * k; c < width) out[c] = dh[k];
    }
    if (has_head) out[width + lane] = dr;
}

/// A thread for each head of each row.
template <class T>
__global__ void head_dots_kernel(const Dense<const T> x, const Dense<const T> y, const Dense<T> out) {
    const i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= out.rows * out.cols) return;
    const i64 row = i / out.cols, head = i % out.cols;
    const T *left = x.data + row * x.ld, *right = y.data + (y.rows == 1 ? 0 : row) * y.ld;
    T sum = T(0);
    for (i64 c = head; c < x.cols; c += out.cols) sum += left[c] * right[c];
    out.data[row * out.ld + head] = sum;
}

/// partial [gridDim.y × columns] ← Σ over each part's rows; a warp's lanes have a column each.
template <class T>
__global__ void __launch_bounds__(block_threads)
    head_sums_kernel(const Dense<const T> s, const Dense<const T> x, double* partial) {
    __shared__ double sums[block_threads];
    const i64 c = static_cast<i64>(blockIdx.x) * 32 + threadIdx.x;
    double sum = 0;
    if (c < x.cols)
        for (i64 row = static_cast<i64>(blockIdx.y) * rows_of_block + threadIdx.y; row < x.rows;
             row += static_cast<i64>(gridDim.y) * rows_of_block)
            sum +=
                static_cast<double>(s.data[row * s.ld + c % s.cols]) * static_cast<double>(x.data[row * x.ld + c]);
    sums[threadIdx.y * 32 + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || c >= x.cols) return;
    for (int w = 1; w < rows_of_block; ++w) sum += sums[w * 32 + threadIdx.x];
    partial[static_cast<i64>(blockIdx.y) * x.cols + c] = sum;
}
template <class T>
__global__ void add_parts_kernel(const double* partial, const i64 parts, const i64 cols, T* out) {
    const i64 c = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    double sum = 0;
    for (i64 p = 0; p < parts; ++p) sum += partial[p * cols + c];
    out[c] = static_cast<T>(sum);
}

template <class T>
__global__ void add_heads_kernel(const Dense<const T> s, const T* a, const Dense<T> y) {
    const i64 row = row_here();
    if (row >= y.rows) return;
    for (i64 c = threadIdx.x; c < y.cols; c += blockDim.x)
        y.data[row * y.ld + c] += s.data[row * s.ld + c % s.cols] * a[c];
}

template <class T>
__global__ void rescale_kernel(const Dense<const T> from, const Dense<const T> to, const Dense<T> y) {
    const i64 row = row_here(), heads = from.cols;
    if (row >= y.rows) return;
    for (i64 c = threadIdx.x; c < y.cols; c += blockDim.x) {
        const T before = from.data[row * from.ld + c % heads];
        const T scale = before == minus_infinity<T>() ? T(0) : exp_of(before - to.data[row * to.ld + c % heads]);
        y.data[row * y.ld + c] *= scale;
    }
}

template <class T>
__global__ void mean_kernel(const Dense<const T> x, const Dense<T> out) {
    const i64 row = row_here(), heads = x.cols / out.cols;
    if (row >= out.rows) return;
    for (i64 k = threadIdx.x; k < out.cols; k += blockDim.x) {
        T sum = T(0);
        for (i64 h = 0; h < heads; ++h) sum += x.data[row * x.ld + k * heads + h];
        out.data[row * out.ld + k] = sum / static_cast<T>(heads);
    }
}

template <class T>
__global__ void spread_kernel(const Dense<const T> g, const Dense<T> out) {
    const i64 row = row_here(), heads = out.cols / g.cols;
    if (row >= out.rows) return;
    for (i64 c = threadIdx.x; c < out.cols; c += blockDim.x)
        out.data[row * out.ld + c] = g.data[row * g.ld + c / heads] / static_cast<T>(heads);
}

}  // namespace

template <class T>
cudaError_t attend(const AttendCall<T>& call, cudaStream_t stream) {
    if (call.a.rows == 0) return cudaSuccess;
    return enqueue(attend_kernel<T>, rows_grid(call.a.rows, 32), rows_block(32), stream, call);
}

template <class T>
cudaError_t attend_backward(const AttendBackwardCall<T>& call, cudaStream_t stream) {
    if (call.a.rows == 0) return cudaSuccess;
    return enqueue(attend_backward_kernel<T>, rows_grid(call.a.rows, 32), rows_block(32), stream, call);
}

template <class T>
cudaError_t head_dots(Dense<const T> x, Dense<const T> y, Dense<T> out, cudaStream_t stream) {
    const i64 count = out.rows * out.cols;
    if (count == 0) return cudaSuccess;
    return enqueue(head_dots_kernel<T>, dim3(static_cast<unsigned>(divided_up(count, block_threads))),
                   dim3(block_threads), stream, x, y, out);
}

i64 head_sum_parts(i64 rows) {
    const i64 parts = divided_up(rows, 1024);
    return parts < 1 ? 1 : parts > 256 ? 256 : parts;
}

template <class T>
cudaError_t head_sums(Dense<const T> s, Dense<const T> x, double* partial, T* out, cudaStream_t stream) {
    if (x.cols == 0) return cudaSuccess;
    const i64 parts = head_sum_parts(x.rows);
    const cudaError_t launched = enqueue(
        head_sums_kernel<T>, dim3(static_cast<unsigned>(divided_up(x.cols, 32)), static_cast<unsigned>(parts)),
        rows_block(32), stream, s, x, partial);
    if (launched != cudaSuccess) return launched;
    return enqueue(add_parts_kernel<T>, dim3(static_cast<unsigned>(divided_up(x.cols, block_threads))),
                   dim3(block_threads), stream, static_cast<const double*>(partial), parts, x.cols, out);
}

template <class T>
cudaError_t add_heads(Dense<const T> s, const T* a, Dense<T> y, cudaStream_t stream) {
    if (y.rows == 0 || y.cols == 0) return cudaSuccess;
    return enqueue(add_heads_kernel<T>, rows_grid(y.rows, 32), rows_block(32), stream, s, a, y);
}

template <class T>
cudaError_t rescale_heads(Dense<const T> from, Dense<const T> to, Dense<T> y, cudaStream_t stream) {
    if (y.rows == 0 || y.cols == 0) return cudaSuccess;
    return enqueue(rescale_kernel<T>, rows_grid(y.rows, 32), rows_block(32), stream, from, to, y);
}

template <class T>
cudaError_t mean_of_heads(Dense<const T> x, Dense<T> out, cudaStream_t stream) {
    if (out.rows == 0 || out.cols == 0) return cudaSuccess;
    return enqueue(mean_kernel<T>, rows_grid(out.rows, 32), rows_block(32), stream, x, out);
}

template <class T>
cudaError_t spread_to_heads(Dense<const T> g, Dense<T> out, cudaStream_t stream) {
    if (out.rows == 0 || out.cols == 0) return cudaSuccess;
    return enqueue(spread_kernel<T>, rows_grid(out.rows, 32), rows_block(32), stream, g, out);
}

#define GNNBENCH_ATTENTION_FOR(T)                                                               \
    template cudaError_t attend(const AttendCall<T>&, cudaStream_t);                            \
    template cudaError_t attend_backward(const AttendBackwardCall<T>&, cudaStream_t);           \
    template cudaError_t head_dots(Dense<const T>, Dense<const T>, Dense<T>, cudaStream_t);     \
    template cudaError_t head_sums(Dense<const T>, Dense<const T>, double*, T*, cudaStream_t);  \
    template cudaError_t add_heads(Dense<const T>, const T*, Dense<T>, cudaStream_t);           \
    template cudaError_t rescale_heads(Dense<const T>, Dense<const T>, Dense<T>, cudaStream_t); \
    template cudaError_t mean_of_heads(Dense<const T>, Dense<T>, cudaStream_t);                 \
    template cudaError_t spread_to_heads(Dense<const T>, Dense<T>, cudaStream_t);
GNNBENCH_ATTENTION_FOR(float)
GNNBENCH_ATTENTION_FOR(double)

}  // namespace gnnbench::cuda
