#include <algorithm>
#include <cstdlib>
#include <vector>

#include <gnnbench/caches.hpp>

#include <hwy/cache_control.h>

#include "spmm.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

/// The first row whose nonzeros and rows before it make up at least `work`: a row costs about two nonzeros.
std::int64_t row_at_work(const Pattern& a, std::int64_t work) {
    std::int64_t low = 0, high = a.rows;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (a.indptr[middle] + 2 * middle < work) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

template <class T>
void multiply_run(const FlatCsr<T>& a, const DenseSide<T>& d, RowRange rows, Ahead ahead, std::int64_t step,
                  bool past_caches) {
    for (std::int64_t r = rows.begin; r < rows.end; r += step) {
        const RowRange some{r, std::min(rows.end, r + step)};
        multiply_rows(a, d, some, RowsPass<T>{static_cast<T*>(d.c.data) + r * d.c.ld, d.c.ld, ahead, past_caches});
        if (!d.epilogue.empty) epilogue_rows(d.epilogue, d.c, d.c, some);
    }
}

}  // namespace

double share_nearby(const Pattern& a, std::int64_t distance, std::int64_t rows) {
    std::int64_t nearby = 0, counted = 0;
    const std::int64_t step = std::max<std::int64_t>(1, a.rows / rows);
    for (std::int64_t r = 0; r < a.rows; r += step) {
        const std::int64_t end = std::min(a.indptr[r + 1], a.indptr[r] + 64);
        for (std::int64_t j = a.indptr[r]; j < end; ++j, ++counted)
            nearby += std::abs(a.indices[j] - r) < distance;
    }
    return counted > 0 ? static_cast<double>(nearby) / static_cast<double>(counted) : 1;
}

Ahead prefetch_distance(const Pattern& a, ConstMatrixView b) {
    const std::int64_t row_bytes = b.ld * 4, cache = second_level_cache_bytes();
    if (b.rows * row_bytes < cache) return {};
    if (share_nearby(a, std::max<std::int64_t>(4096, cache / row_bytes), 64) > 0.7) return {};
    return ahead_of_random_rows(b.cols * 4);
}

RowRange equal_work(const Pattern& a, std::int64_t i, std::int64_t runs) {
    const std::int64_t work = a.nonzeros() + 2 * a.rows;
    return {i == 0 ? 0 : row_at_work(a, work * i / runs),
            i + 1 == runs ? a.rows : row_at_work(a, work * (i + 1) / runs)};
}

template <class T>
void spmm_by_rows(const FlatCsr<T>& a, const DenseSide<T>& d, int threads) {
    const std::int64_t work = a.nonzeros() + 2 * a.rows, cols = d.c.cols;
    // Runs short enough to balance, long enough that the cost of taking one is negligible.
    const std::int64_t least = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / cols);
    const std::int64_t runs = std::clamp<std::int64_t>(work / least, 1, std::int64_t{64} * threads);
    const Ahead ahead = prefetch_distance(a, d.b);
    const std::int64_t step = rows_for(4096, cols);
    // Non-temporal stores avoid fetching the lines that the result overwrites.
    const bool past_caches = d.beta == 0 && d.epilogue.empty && cols % 16 == 0 && d.c.ld % 16 == 0 &&
                             reinterpret_cast<std::uintptr_t>(d.c.data) % 64 == 0 &&
                             static_cast<std::int64_t>(d.c.bytes()) > last_level_cache_bytes();
#pragma omp parallel num_threads(threads) if (threads > 1 && runs > 1)
    {
#pragma omp for schedule(dynamic)
        for (std::int64_t i = 0; i < runs; ++i)
            multiply_run(a, d, equal_work(a, i, runs), ahead, step, past_caches);
        if (past_caches) hwy::FlushStream();
    }
}

template void spmm_by_rows(const FlatCsr<float>&, const DenseSide<float>&, int);
template void spmm_by_rows(const FlatCsr<double>&, const DenseSide<double>&, int);

}  // namespace gnnbench::cpu
