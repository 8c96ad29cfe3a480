// Bias, activation, dropout and their backward; column sums; optimizer steps.
#include "device_launch.cuh"

namespace gnnbench::cuda {
namespace {

/// Runs of four columns that share one draw of the generator: run j of a row holds absolute columns 4·(first + j) to
/// + 3.
struct Runs {
    u32 first_column;
    i64 cols;

    GNNBENCH_HOST_DEVICE i64 first() const { return first_column / 4; }
    GNNBENCH_HOST_DEVICE i64 count() const { return (first_column + cols - 1) / 4 - first() + 1; }
    /// The matrix's column where run j begins; negative for a first run that begins before the matrix.
    GNNBENCH_HOST_DEVICE i64 column(i64 j) const { return (first() + j) * 4 - first_column; }
};

/// Whether whole runs of all these matrices can be moved 16 bytes at a time.
template <class T, class... Rest>
bool runs_aligned(const Runs& runs, Rest... data_and_ld) {
    constexpr PackChoice choice = packs_of<T>;
    return runs.first_column % 4 == 0 && choice.pack(choice.most, data_and_ld...) == choice.most;
}

template <class T>
__global__ void apply_kernel(const Finish<T> f, const Runs runs, const bool aligned, const Dense<const T> x,
                             const Dense<T> z) {
    const i64 row = row_here();
    if (row >= x.rows) return;
    const T* from = x.data + row * x.ld;
    T* to = z.data + row * z.ld;
    for (i64 j = threadIdx.x; j < runs.count(); j += blockDim.x) {
        const i64 column = runs.column(j);
        if (aligned && column + 4 <= x.cols) {
            Pack<T, 4> v = *reinterpret_cast<const Pack<T, 4>*>(from + column);
            f.apply(v, row, column);
            *reinterpret_cast<Pack<T, 4>*>(to + column) = v;
            continue;
        }
        Words words{};
        if (f.mask.active) words = f.mask.words(f.row_ids[row], static_cast<u32>(runs.first() + j));
        for (u32 i = 0; i < 4; ++i) {
            const i64 c = column + i;
            if (c < 0 || c >= x.cols) continue;
            T v = f.before_dropout(from[c], c);
            if (f.mask.active) v = words.of(i) < f.mask.threshold ? T(0) : v * f.scale;
            to[c] = v;
        }
    }
}

template <class T>
__global__ void backward_kernel(const Finish<T> f, const Runs runs, const bool aligned, const Dense<const T> h,
                                const Dense<const T> dh, const Dense<T> dz) {
    const i64 row = row_here();
    if (row >= h.rows) return;
    // A relu's h is positive only where it was kept: its mask need not be drawn again.
    const bool draws = f.mask.active && f.curve != Curve::relu;
    const T scale = f.mask.active ? f.scale : T(1);
    const T *y = h.data + row * h.ld, *from = dh.data + row * dh.ld;
    T* to = dz.data + row * dz.ld;
    for (i64 j = threadIdx.x; j < runs.count(); j += blockDim.x) {
        const i64 column = runs.column(j);
        Words words{};
        if (draws) words = f.mask.words(f.row_ids[row], static_cast<u32>(runs.first() + j));
        const bool whole = aligned && column + 4 <= h.cols;
        Pack<T, 4> out{}, d{};
        if (whole) {
            out = *reinterpret_cast<const Pack<T, 4>*>(y + column);
            d = *reinterpret_cast<const Pack<T, 4>*>(from + column);
        } else {
            for (int i = 0; i < 4; ++i)
                if (const i64 c = column + i; c >= 0 && c < h.cols) out.at[i] = y[c], d.at[i] = from[c];
        }
        for (u32 i = 0; i < 4; ++i) {
            const bool lost = draws && words.of(i) < f.mask.threshold;
            d.at[i] = lost ? T(0) : d.at[i] * scale * slope(f.curve, out.at[i] / scale);
        }
        if (whole) {
            *reinterpret_cast<Pack<T, 4>*>(to + column) = d;
        } else {
            for (int i = 0; i < 4; ++i)
                if (const i64 c = column + i; c >= 0 && c < h.cols) to[c] = d.at[i];
        }
    }
}

/// partial[part, column] ← the sum of a part of the rows. Blocks of 32 columns × 8 rows; x: column tiles, y: parts.
template <class T>
__global__ void column_parts_kernel(const Dense<const T> g, const i64 rows_per_part, double* partial) {
    __shared__ double sums[8][32];
    const i64 column = static_cast<i64>(blockIdx.x) * 32 + threadIdx.x;
    const i64 begin = static_cast<i64>(blockIdx.y) * rows_per_part;
    const i64 end = begin + rows_per_part < g.rows ? begin + rows_per_part : g.rows;
    double sum = 0;
    if (column < g.cols)
        for (i64 r = begin + threadIdx.y; r < end; r += 8) sum += static_cast<double>(g.data[r * g.ld + column]);
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= g.cols) return;
    for (int y = 1; y < 8; ++y) sum += sums[y][threadIdx.x];
    partial[static_cast<i64>(blockIdx.y) * g.cols + column] = sum;
}

/// One warp per column.
template <class T>
__global__ void column_totals_kernel(const double* partial, const i64 parts, const i64 cols, T* out) {
    const i64 column = static_cast<i64>(blockIdx.x) * blockDim.y + threadIdx.y;
    double sum = 0;
    if (column < cols)
        for (i64 p = threadIdx.x; p < parts; p += 32) sum += partial[p * cols + column];
    sum = warp_sum(sum);
    if (column < cols && threadIdx.x == 0) out[column] = static_cast<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(block_threads) optimizer_kernel(const OptimizerStep<T> o) {
    const Slot<T>& s = o.slot[slot_of_block(o, blockIdx.x)];
    const i64 first = (static_cast<i64>(blockIdx.x) - s.first_block) * slot_elements_per_block;
    for (int k = 0; k < 4; ++k) {
        const i64 i = first + k * block_threads + threadIdx.x;
        if (i >= s.count) return;
        T w = s.weight[i], g = s.gradient[i];
        // SGD: w −= lr (g + λw). Adam: λ in the gradient. AdamW: w −= lr λ w, apart from the gradient.
        if (o.kind == 2) w -= o.rate * s.weight_decay * w;
        else g += s.weight_decay * w;
        if (o.kind == 0) {
            s.weight[i] = w - o.rate * g;
            continue;
        }
        const T m = o.beta1 * s.first_moment[i] + o.rest1 * g;
        const T v = o.beta2 * s.second_moment[i] + o.rest2 * g * g;
        s.first_moment[i] = m;
        s.second_moment[i] = v;
        s.weight[i] = w - o.rate * (m * o.first_correction) / (sqrt_of(v * o.second_correction) + o.epsilon);
    }
}

}  // namespace

template <class T>
cudaError_t apply(const Finish<T>& f, Dense<const T> x, Dense<T> z, cudaStream_t stream) {
    if (x.rows == 0 || x.cols == 0) return cudaSuccess;
    const Runs runs{f.mask.active ? f.mask.first_column : 0, x.cols};
    const bool aligned = runs_aligned<T>(runs, static_cast<const void*>(x.data), x.ld, static_cast<const void*>(z.data), z.ld);
    const int lanes = side_by_side(runs.count());
    return enqueue(apply_kernel<T>, rows_grid(x.rows, lanes), rows_block(lanes), stream, f, runs, aligned, x, z);
}

template <class T>
cudaError_t apply_backward(const Finish<T>& f, Dense<const T> h, Dense<const T> dh, Dense<T> dz, cudaStream_t stream) {
    if (h.rows == 0 || h.cols == 0) return cudaSuccess;
    const Runs runs{f.mask.active ? f.mask.first_column : 0, h.cols};
    const bool aligned = runs_aligned<T>(runs, static_cast<const void*>(h.data), h.ld, static_cast<const void*>(dh.data), dh.ld,
                                         static_cast<const void*>(dz.data), dz.ld);
    const int lanes = side_by_side(runs.count());
    return enqueue(backward_kernel<T>, rows_grid(h.rows, lanes), rows_block(lanes), stream, f, runs, aligned, h, dh, dz);
}

i64 column_sum_parts(i64 rows) {
    constexpr i64 most = 512, least_rows = 256;
    const i64 parts = divided_up(rows, least_rows);
    return parts < most ? parts : most;
}

template <class T>
cudaError_t column_sums(Dense<const T> g, double* partial, T* out, cudaStream_t stream) {
    if (g.cols == 0) return cudaSuccess;
    const i64 parts = column_sum_parts(g.rows);
    if (parts > 0) {
        const dim3 grid(static_cast<unsigned>(divided_up(g.cols, 32)), static_cast<unsigned>(parts));
        const cudaError_t code =
            enqueue(column_parts_kernel<T>, grid, dim3(32, 8), stream, g, divided_up(g.rows, parts), partial);
        if (code != cudaSuccess) return code;
    }
    return enqueue(column_totals_kernel<T>, rows_grid(g.cols, 32), rows_block(32), stream, partial, parts, g.cols, out);
}

template <class T>
cudaError_t optimizer_step(const OptimizerStep<T>& step, cudaStream_t stream) {
    if (step.blocks == 0) return cudaSuccess;
    return enqueue(optimizer_kernel<T>, dim3(static_cast<unsigned>(step.blocks)), dim3(block_threads), stream, step);
}

#define GNNBENCH_INSTANTIATE(T)                                                                                       \
    template cudaError_t apply(const Finish<T>&, Dense<const T>, Dense<T>, cudaStream_t);                              \
    template cudaError_t apply_backward(const Finish<T>&, Dense<const T>, Dense<const T>, Dense<T>, cudaStream_t);     \
    template cudaError_t column_sums(Dense<const T>, double*, T*, cudaStream_t);                                       \
    template cudaError_t optimizer_step(const OptimizerStep<T>&, cudaStream_t);
GNNBENCH_INSTANTIATE(float)
GNNBENCH_INSTANTIATE(double)
#undef GNNBENCH_INSTANTIATE

}  // namespace gnnbench::cuda
