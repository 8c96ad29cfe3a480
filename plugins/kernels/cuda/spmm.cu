// Sparse times dense by groups of threads: a group has one row's run of nonzeros, four of which it reads at once, holds a
// tile of the result in registers, and keeps four rows of B in flight. The epilogue works on the finished registers.
#include "device_launch.cuh"
#include "work_items.hpp"

namespace gnnbench::cuda {
namespace {

constexpr int in_flight = 4;
/// Entries of a run from which on they are read by fours. Those before the first whole four take a turn of their own, which is
/// a tenth of such a run's at most.
constexpr int fours_from = 32;
/// Whether a thread's registers hold them beside what it sums up: else fewer blocks would be at work at a time.
template <int elements>
constexpr bool fours_fit = elements <= 4;

/// acc[k] += Σ value[u] · B[index[u]] for this thread's packs, the first of which B has, and u from `first` on. All loads are
/// in flight at once.
template <class T, int pack, int packs, int count>
__device__ __forceinline__ void add_rows(const SpmmCall<T>& s, const i32 (&index)[count], const T (&value)[count],
                                         const i64 (&column)[packs], Pack<T, pack> (&acc)[packs], int first = 0) {
    const T* __restrict__ b = s.b;
    Pack<T, pack> x[count][packs];
#pragma unroll
    for (int u = 0; u < count; ++u) {
        // Unsigned, so that a product of 32 bits by 32 bits is one instruction.
        const T* row = b + static_cast<u64>(static_cast<u32>(index[u])) * s.ldb;
#pragma unroll
        for (int k = 0; k < packs; ++k)
            if (u >= first && (k == 0 || column[k] < s.read_width))
                x[u][k] = *reinterpret_cast<const Pack<T, pack>*>(row + column[k]);
            else x[u][k] = {};
    }
#pragma unroll
    for (int u = 0; u < count; ++u)
#pragma unroll
        for (int k = 0; k < packs; ++k)
#pragma unroll
            for (int i = 0; i < pack; ++i) acc[k].at[i] += (u >= first ? value[u] : T(0)) * x[u][k].at[i];
}

/// acc[k] += Σ values[p] · B[indices[p]], p in [begin, end), for this thread's packs.
template <class T, int pack, int packs>
__device__ __forceinline__ void multiply_run(const SpmmCall<T>& s, i64 begin, i64 end, const i64 (&column)[packs],
                                             Pack<T, pack> (&acc)[packs]) {
    const i32* __restrict__ indices = s.indices;
    const T* __restrict__ values = s.values;
    i64 p = begin;
    if (fours_fit<pack * packs> && s.by_fours && end - begin >= fours_from) {
        const auto* index_fours = reinterpret_cast<const Pack<i32, in_flight>*>(indices);
        const auto* value_fours = reinterpret_cast<const Pack<T, in_flight>*>(values);
        // The four that this run begins in may begin with entries of another.
        const int others = static_cast<int>(begin % in_flight);
        p = begin - others;
        if (others > 0) {
            const Pack<i32, in_flight> index = index_fours[p / in_flight];
            const Pack<T, in_flight> value = value_fours[p / in_flight];
            add_rows<T, pack, packs, in_flight>(s, index.at, value.at, column, acc, others);
            p += in_flight;
        }
        for (; p + in_flight <= end; p += in_flight) {
            const Pack<i32, in_flight> index = index_fours[p / in_flight];
            const Pack<T, in_flight> value = value_fours[p / in_flight];
            add_rows<T, pack, packs, in_flight>(s, index.at, value.at, column, acc);
        }
    }
    for (; p + in_flight <= end; p += in_flight) {
        i32 index[in_flight];
        T value[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            index[u] = indices[p + u];
            value[u] = values[p + u];
        }
        add_rows<T, pack, packs, in_flight>(s, index, value, column, acc);
    }
    for (; p < end; ++p) {
        const i32 index[] = {indices[p]};
        const T value[] = {values[p]};
        add_rows<T, pack, packs, 1>(s, index, value, column, acc);
    }
}

/// C[row, column …] ← epilogue(alpha · sum + beta · C).
template <class T, int pack>
__device__ __forceinline__ void finish_pack(const SpmmCall<T>& s, i64 row, i64 column, Pack<T, pack> sum) {
    auto* c = reinterpret_cast<Pack<T, pack>*>(s.c + row * s.ldc + column);
    for (int i = 0; i < pack; ++i) sum.at[i] *= s.alpha;
    if (s.beta != T(0)) {
        const Pack<T, pack> old = *c;
        for (int i = 0; i < pack; ++i) sum.at[i] += s.beta * old.at[i];
    }
    s.finish.apply(sum, row, column);
    *c = sum;
}

/// The same where C is not cut into packs, or ends within one.
template <class T, int pack>
__device__ __forceinline__ void finish_elements(const SpmmCall<T>& s, i64 row, i64 column, const Pack<T, pack>& sum) {
#pragma unroll
    for (int i = 0; i < pack; ++i)
        if (column + i < s.width) finish_pack<T, 1>(s, row, column + i, {{sum.at[i]}});
}

/// `whole`: C's rows are cut into packs as B's are.
template <class T, int pack, int lanes, int packs, bool whole>
__global__ void __launch_bounds__(block_threads) spmm_kernel(const SpmmCall<T> s) {
    constexpr Tiling tiling{pack, lanes, packs};
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const i64 unit = static_cast<i64>(blockIdx.x) * tiling.rows_per_block() + static_cast<int>(threadIdx.x) / lanes;
    if (unit >= s.units) return;
    i64 begin, end, target = unit;
    if (s.items) {
        const WorkItem item = s.items[unit];
        begin = item.begin;
        end = begin + item.count;
        target = item.target;
    } else {
        begin = s.indptr[unit];
        end = s.indptr[unit + 1];
        if (s.row_at) target = s.row_at[unit];
    }
    i64 column[packs];
    Pack<T, pack> acc[packs];
#pragma unroll
    for (int k = 0; k < packs; ++k) {
        column[k] = tiling.column(blockIdx.y, lane, k);
#pragma unroll
        for (int i = 0; i < pack; ++i) acc[k].at[i] = T(0);
    }
    if (column[0] >= s.read_width) return;  // not in the loop
    multiply_run<T, pack, packs>(s, begin, end, column, acc);
#pragma unroll
    for (int k = 0; k < packs; ++k) {
        if (column[k] >= s.read_width) continue;
        if (target < 0) *reinterpret_cast<Pack<T, pack>*>(s.partial + ~target * s.read_width + column[k]) = acc[k];
        else if constexpr (whole) finish_pack<T, pack>(s, target, column[k], acc[k]);
        else finish_elements<T, pack>(s, target, column[k], acc[k]);
    }
}

/// Rows that were split: their partial sums in the order of their nonzeros.
template <class T>
__global__ void __launch_bounds__(block_threads) combine_kernel(const SpmmCall<T> s) {
    const SplitRow row = s.split[blockIdx.x];
    for (i64 column = threadIdx.x; column < s.width; column += blockDim.x) {
        Pack<T, 1> sum{};
        for (i32 slot = 0; slot < row.slots; ++slot)
            sum.at[0] += s.partial[(static_cast<i64>(row.first_slot) + slot) * s.read_width + column];
        finish_pack<T, 1>(s, row.row, column, sum);
    }
}

/// Rows of C that a matrix stored by its rows in use does not have: each is read and written once at most, and by no
/// other kernel.
template <class T>
__global__ void __launch_bounds__(block_threads) unused_rows_kernel(const SpmmCall<T> s) {
    const i64 row = row_here();
    if (row >= s.rows || is_used(s.row_at, s.stored, row)) return;
    for (i64 column = threadIdx.x; column < s.width; column += blockDim.x) finish_pack<T, 1>(s, row, column, {});
}

/// Whether 16 bytes can be read from there on.
bool starts_packs(const void* data) { return reinterpret_cast<u64>(data) % 16 == 0; }

template <class T, int pack, int lanes, int packs>
cudaError_t with_tiling(const SpmmCall<T>& s, cudaStream_t stream) {
    constexpr Tiling tiling{pack, lanes, packs};
    const dim3 grid(static_cast<unsigned>(divided_up(s.units, tiling.rows_per_block())),
                    static_cast<unsigned>(tiling.column_tiles(s.read_width)));
    const bool whole = s.read_width == s.width && packs_of<T>.pack(s.width, s.c, s.ldc) >= pack;
    return enqueue(whole ? spmm_kernel<T, pack, lanes, packs, true> : spmm_kernel<T, pack, lanes, packs, false>, grid,
                   dim3(block_threads), stream, s);
}

template <class T, int pack>
cudaError_t with_pack(const SpmmCall<T>& s, cudaStream_t stream) {
    constexpr int widest = packs_of<T>.most;
    const Tiling t = spmm_tiling(s.read_width, pack, widest, s.in_panels);
    if constexpr (pack == widest) {
        if (t.lanes == 4) return with_tiling<T, pack, 4, 1>(s, stream);
        if (t.lanes == 16) return with_tiling<T, pack, 16, 1>(s, stream);
        if (t.packs == 2) return with_tiling<T, pack, 32, 2>(s, stream);
    }
    if constexpr (pack < widest)
        if (t.packs == 3) return with_tiling<T, pack, 16, 3>(s, stream);
    if (t.lanes == 8) return with_tiling<T, pack, 8, 1>(s, stream);
    if (t.packs == 1) return with_tiling<T, pack, 32, 1>(s, stream);
    return with_tiling<T, pack, 32, 4>(s, stream);
}

}  // namespace

template <class T>
cudaError_t spmm(SpmmCall<T> s, cudaStream_t stream) {
    if (s.width == 0) return cudaSuccess;
    s.by_fours = starts_packs(s.indices) && starts_packs(s.values);
    if (s.stored < s.rows && (s.beta != T(1) || !s.finish.empty())) {
        const int lanes = side_by_side(s.width);
        const cudaError_t code =
            enqueue(unused_rows_kernel<T>, rows_grid(s.rows, lanes), rows_block(lanes), stream, s);
        if (code != cudaSuccess) return code;
    }
    if (s.units == 0) return cudaSuccess;
    const int pack = packs_of<T>.pack(s.read_width, s.b, s.ldb, s.partial, s.read_width);
    cudaError_t code = cudaSuccess;
    if (pack == 4) {
        if constexpr (packs_of<T>.most == 4) code = with_pack<T, 4>(s, stream);
    } else if (pack == 2) {
        code = with_pack<T, 2>(s, stream);
    } else {
        code = with_pack<T, 1>(s, stream);
    }
    if (code != cudaSuccess || s.split_rows == 0) return code;
    return enqueue(combine_kernel<T>, dim3(static_cast<unsigned>(s.split_rows)), dim3(block_threads), stream, s);
}

template cudaError_t spmm(SpmmCall<float>, cudaStream_t);
template cudaError_t spmm(SpmmCall<double>, cudaStream_t);

}  // namespace gnnbench::cuda
