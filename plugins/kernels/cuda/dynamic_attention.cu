// Dynamic attention by rows (gnnbench/verbs/dynamic_attention.hpp has the formulas).
#include "attention.cuh"
#include "dynamic_attention.hpp"

namespace gnnbench::cuda {
namespace {

/// ⟨a, λ(s + t)⟩ of this lane's head.
template <class T>
__device__ __forceinline__ T dynamic_score(const T* vector, const T* s, const T* t, T slope, i64 width, int heads,
                                           int lane) {
    return sum_of_head<T>(width, heads, lane, [=](i64 c) { return vector[c] * leaky(s[c] + t[c], slope); });
}

template <class T>
__global__ void __launch_bounds__(block_threads) dynamic_attend_kernel(const DynamicAttendCall<T> call) {
    const i64 row = row_here();
    if (row >= call.a.rows) return;
    __syncwarp();
    const int lane = static_cast<int>(threadIdx.x), heads = call.heads;
    const bool has_head = lane < heads;
    const i64 begin = call.a.indptr[row], end = call.a.indptr[row + 1], width = call.z.cols;
    const T* s = call.s.data + row * call.s.ld;
    const T before = call.first || !has_head ? minus_infinity<T>() : call.maxima.data[row * call.maxima.ld + lane];
    const auto score = [&](i64 e) {
        return dynamic_score(call.vector, s, call.b.data + call.a.indices[e] * call.b.ld, call.slope, width, heads,
                             lane);
    };
    // Of this lane's head: the largest score, and what sums of another maximum are worth.
    T top = before;
    for (i64 e = begin; e < end; ++e) {
        const T found = score(e);
        top = has_head && found > top ? found : top;
    }
    const T scale = before == minus_infinity<T>() ? T(0) : exp_of(before - top);
    T sum = call.first || !has_head ? T(0) : call.sums.data[row * call.sums.ld + lane] * scale;
    for (i64 c0 = 0; c0 < width; c0 += 32 * columns_at_once) {
        T z[columns_at_once];
        int head[columns_at_once];
        for (int k = 0; k < columns_at_once; ++k) {
            const i64 c = c0 + lane + 32 * k;
            head[k] = static_cast<int>(c % heads);
            const T by = __shfl_sync(whole_warp, scale, head[k]);
            z[k] = !call.first && c < width ? call.z.data[row * call.z.ld + c] * by : T(0);
        }
        for (i64 e = begin; e < end; ++e) {
            const T* operand = call.b.data + call.a.indices[e] * call.b.ld;
            const T found = score(e);
            T p = T(0);
            if (has_head) {
                p = call.a.values[e] * exp_of(found - top);
                if (c0 == 0) sum += p;
                p *= kept(call.dropout, call.kept_scale, row, call.a.indices[e], lane);
            }
            for (int k = 0; k < columns_at_once; ++k) {
                const i64 c = c0 + lane + 32 * k;
                const T weight = __shfl_sync(whole_warp, p, head[k]);
                z[k] += weight * (c < width ? operand[c] : T(0));
            }
        }
        const T inverse = call.last ? (sum > T(0) ? T(1) / sum : T(0)) : T(1);
        for (int k = 0; k < columns_at_once; ++k) {
            const i64 c = c0 + lane + 32 * k;
            const T by = __shfl_sync(whole_warp, inverse, head[k]);
            if (c < width) call.z.data[row * call.z.ld + c] = z[k] * by;
        }
    }
    if (!has_head) return;
    call.maxima.data[row * call.maxima.ld + lane] = call.last ? (sum > T(0) ? top + log_of(sum) : T(0)) : top;
    call.sums.data[row * call.sums.ld + lane] = sum;
}

template <class T>
__global__ void __launch_bounds__(block_threads) dynamic_backward_kernel(const DynamicBackwardCall<T> call) {
    const i64 row = row_here();
    if (row >= call.a.rows) return;
    __syncwarp();
    const int lane = static_cast<int>(threadIdx.x), heads = call.heads;
    const bool has_head = lane < heads;
    const i64 begin = call.a.indptr[row], end = call.a.indptr[row + 1], width = call.slopes.cols;
    const T* own = call.own.data + row * call.own.ld;
    for (i64 c0 = 0; c0 < width; c0 += 32 * columns_at_once) {
        T slopes[columns_at_once], sums[columns_at_once];
        int head[columns_at_once];
        for (int k = 0; k < columns_at_once; ++k) {
            const i64 c = c0 + lane + 32 * k;
            head[k] = static_cast<int>(c % heads);
            const bool old = !call.first && c < width;
            slopes[k] = old ? call.slopes.data[row * call.slopes.ld + c] : T(0);
            sums[k] = old && !call.of_rows ? call.sums.data[row * call.sums.ld + c] : T(0);
        }
        for (i64 e = begin; e < end; ++e) {
            const i64 other = call.a.indices[e];
            const T* received = call.b.data + other * call.b.ld;
            const T *g = call.of_rows ? own : received, *t = call.of_rows ? received : own, *s = g + width;
            const T score = dynamic_score(call.vector, s, t, call.slope, width, heads, lane),
                    dot = dot_of_head(g, t, width, heads, lane);
            T alpha = T(0), de = T(0);
            if (has_head) {
                alpha = call.a.values[e] * exp_of(score - s[width + lane]);
                const T m = kept(call.dropout, call.kept_scale, call.of_rows ? row : other,
                                 call.of_rows ? other : row, lane);
                de = alpha * (m * dot - s[width + heads + lane]);
                alpha *= m;
            }
            for (int k = 0; k < columns_at_once; ++k) {
                const i64 c = c0 + lane + 32 * k;
                const T of_score = __shfl_sync(whole_warp, de, head[k]),
                        weight = __shfl_sync(whole_warp, alpha, head[k]);
                if (c >= width) continue;
                slopes[k] += of_score * leaky_derivative(s[c] + t[c], call.slope);
                sums[k] += weight * g[c];
            }
        }
        for (int k = 0; k < columns_at_once; ++k) {
            const i64 c = c0 + lane + 32 * k;
            if (c >= width) continue;
            call.slopes.data[row * call.slopes.ld + c] = slopes[k];
            if (!call.of_rows) call.sums.data[row * call.sums.ld + c] = sums[k];
        }
    }
}

}  // namespace

template <class T>
cudaError_t dynamic_attend(const DynamicAttendCall<T>& call, cudaStream_t stream) {
    if (call.a.rows == 0) return cudaSuccess;
    return enqueue(dynamic_attend_kernel<T>, rows_grid(call.a.rows, 32), rows_block(32), stream, call);
}

template <class T>
cudaError_t dynamic_backward(const DynamicBackwardCall<T>& call, cudaStream_t stream) {
    if (call.a.rows == 0) return cudaSuccess;
    return enqueue(dynamic_backward_kernel<T>, rows_grid(call.a.rows, 32), rows_block(32), stream, call);
}

#define GNNBENCH_DYNAMIC_ATTENTION_FOR(T)                                           \
    template cudaError_t dynamic_attend(const DynamicAttendCall<T>&, cudaStream_t); \
    template cudaError_t dynamic_backward(const DynamicBackwardCall<T>&, cudaStream_t);
GNNBENCH_DYNAMIC_ATTENTION_FOR(float)
GNNBENCH_DYNAMIC_ATTENTION_FOR(double)

}  // namespace gnnbench::cuda
