#include <algorithm>
#include <vector>

#include <hwy/cache_control.h>

#include "machine.hpp"
#include "memory.hpp"
#include "spmm.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

/// The first row whose nonzeros and rows before it make up at least `work`: a row costs about two nonzeros.
std::int64_t row_at_work(const FlatCsr& a, std::int64_t work) {
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

/// Computes rows into a small buffer and copies that past the caches.
void multiply_streaming(const FlatCsr& a, const DenseSide& d, RowRange rows, std::int64_t ahead, float* buffer,
                        std::int64_t buffer_rows) {
    const std::int64_t cols = d.c.cols;
    for (std::int64_t r = rows.begin; r < rows.end; r += buffer_rows) {
        const RowRange some{r, std::min(rows.end, r + buffer_rows)};
        multiply_rows(a, d, some, {buffer, cols, ahead});
        const MatrixView view{buffer, some.end - some.begin, cols, cols, DType::f32};
        if (!d.epilogue.empty) epilogue_rows(d.epilogue, view, view, {0, view.rows}, {r, 0});
        stream_out(buffer, static_cast<float*>(d.c.data) + r * cols, view.rows * cols);
    }
    hwy::FlushStream();
}

void multiply_in_place(const FlatCsr& a, const DenseSide& d, RowRange rows, std::int64_t ahead,
                       std::int64_t step) {
    for (std::int64_t r = rows.begin; r < rows.end; r += step) {
        const RowRange some{r, std::min(rows.end, r + step)};
        multiply_rows(a, d, some, {static_cast<float*>(d.c.data) + r * d.c.ld, d.c.ld, ahead});
        if (!d.epilogue.empty) epilogue_rows(d.epilogue, d.c, d.c, some);
    }
}

}  // namespace

std::int64_t prefetch_distance(const DenseSide& d) {
    // So many that some 64 cache lines are under way.
    if (d.b.rows * d.b.ld * 4 < second_level_cache_bytes()) return 0;
    const std::int64_t lines = (d.b.cols + 15) / 16;
    return std::clamp<std::int64_t>(64 / lines, 4, 32);
}

RowRange equal_work(const FlatCsr& a, std::int64_t i, std::int64_t runs) {
    const std::int64_t work = a.nonzeros() + 2 * a.rows;
    return {i == 0 ? 0 : row_at_work(a, work * i / runs), i + 1 == runs ? a.rows : row_at_work(a, work * (i + 1) / runs)};
}

void spmm_by_rows(const FlatCsr& a, const DenseSide& d, int threads, Workspace& workspace) {
    const std::int64_t work = a.nonzeros() + 2 * a.rows, cols = d.c.cols;
    // Runs short enough to balance, long enough that taking one costs nothing.
    const std::int64_t least = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / cols);
    const std::int64_t runs = std::clamp<std::int64_t>(work / least, 1, 64 * threads);
    const std::int64_t ahead = prefetch_distance(d), step = rows_for(4096, cols);
    const bool streams = d.beta == 0 && d.c.contiguous() &&
                         static_cast<std::int64_t>(d.c.bytes()) > last_level_cache_bytes();
    const auto run = [&](std::int64_t i, float* buffer) {
        const RowRange rows = equal_work(a, i, runs);
        if (streams) {
            multiply_streaming(a, d, rows, ahead, buffer, step);
        } else {
            multiply_in_place(a, d, rows, ahead, step);
        }
    };
#pragma omp parallel num_threads(threads) if (threads > 1 && runs > 1)
    {
        float* buffer = streams ? workspace.of_thread(omp_get_thread_num(), static_cast<std::size_t>(step * cols)) : nullptr;
#pragma omp for schedule(dynamic)
        for (std::int64_t i = 0; i < runs; ++i) run(i, buffer);
    }
}

}  // namespace gnnbench::cpu
