#include "used_rows.hpp"

#include <algorithm>

#include <gnnbench/usize.hpp>

#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

std::int64_t used_rows(const Csr& a) {
    std::int64_t used = 0;
    for (std::size_t r = 0; r + 1 < a.indptr.size(); ++r) used += a.indptr[r + 1] > a.indptr[r];
    return used;
}

/// Rows of C between those of positions [begin, end): each position's row and the unused ones before it, and those
/// after the last position with it.
template <class T>
RowRange rows_up_to(const UsedRowsMatrix<T>& a, RowRange positions) {
    const std::int64_t begin = positions.begin == 0 ? 0 : a.row_at[usize(positions.begin) - 1] + 1;
    const std::int64_t end = positions.end == a.csr.rows ? a.rows : a.row_at[usize(positions.end) - 1] + 1;
    return {begin, end};
}

/// beta · C on the rows that A does not use.
template <class T>
void scale_unused(const UsedRowsMatrix<T>& a, const DenseSide<T>& d, RowRange positions) {
    const RowRange rows = rows_up_to(a, positions);
    std::int64_t p = positions.begin;
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        if (p < positions.end && a.row_at[usize(p)] == r) {
            ++p;
            continue;
        }
        T* const row = row_of<T>(d.c, r);
        if (d.beta == 0)
            std::fill_n(row, d.c.cols, T{0});
        else
            std::transform(row, row + d.c.cols, row, [&](T v) { return d.beta * v; });
    }
}

template <class T>
void multiply_run(const UsedRowsMatrix<T>& a, const DenseSide<T>& d, RowRange run, Ahead ahead) {
    // A few rows at a time, so that they are still in the first cache when the epilogue comes.
    const std::int64_t step = rows_for(4096, d.c.cols);
    for (std::int64_t p = run.begin; p == run.begin || p < run.end; p += step) {
        const RowRange some{p, std::min(run.end, p + step)};
        if (d.beta != 1) scale_unused(a, d, some);
        multiply_rows(a.csr, d, some,
                      RowsPass<T>{static_cast<T*>(d.c.data), d.c.ld, ahead, false, a.row_at.data()});
        if (!d.epilogue.empty) epilogue_rows(d.epilogue, d.c, d.c, rows_up_to(a, some));
    }
}

}  // namespace

bool rows_mostly_empty(const Csr& a) { return 2 * used_rows(a) <= a.rows; }

template <class T>
UsedRowsMatrix<T> make_used_rows(const Csr& a, int threads) {
    const auto used = usize(used_rows(a));
    UsedRowsMatrix<T> out{.rows = a.rows,
                          .row_at = HostArray<std::int32_t>(used),
                          .indptr = HostArray<std::int64_t>(used + 1),
                          .indices = HostArray<std::int32_t>(a.indices.size()),
                          .values = HostArray<T>(a.values.size()),
                          .csr = {}};
    std::size_t p = 0;
    out.indptr[0] = 0;
    for (std::size_t r = 0; r + 1 < a.indptr.size(); ++r) {
        if (a.indptr[r + 1] == a.indptr[r]) continue;
        out.row_at[p] = static_cast<std::int32_t>(r);
        out.indptr[++p] = a.indptr[r + 1];
    }
    parallel_ranges(threads, a.nonzeros(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
        std::copy(a.indices.begin() + begin, a.indices.begin() + end, out.indices.data() + begin);
        std::transform(a.values.begin() + begin, a.values.begin() + end, out.values.data() + begin,
                       [](double v) { return static_cast<T>(v); });
    });
    out.csr = {{out.indptr.data(), out.indices.data(), static_cast<std::int64_t>(used), a.cols},
               out.values.data()};
    return out;
}

template <class T>
void spmm_used_rows(const UsedRowsMatrix<T>& a, const DenseSide<T>& d, int threads) {
    const bool everywhere = d.beta != 1 || !d.epilogue.empty;  // C's other rows too
    const std::int64_t work = a.csr.nonzeros() + 2 * (everywhere ? a.rows : a.csr.rows);
    const std::int64_t least = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / d.c.cols);
    const std::int64_t runs = std::min(std::max<std::int64_t>(1, a.csr.rows),
                                       std::clamp<std::int64_t>(work / least, 1, std::int64_t{64} * threads));
    const Ahead ahead = a.csr.rows > 0 ? prefetch_distance(a.csr, d.b) : Ahead{};
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && runs > 1)
    for (std::int64_t i = 0; i < runs; ++i) {
        const RowRange run = equal_work(a.csr, i, runs);
        // The first positions have their rows, so an empty run has none: but that of a matrix without nonzeros.
        if (run.begin < run.end || a.csr.rows == 0) multiply_run(a, d, run, ahead);
    }
}

template UsedRowsMatrix<float> make_used_rows<float>(const Csr&, int);
template UsedRowsMatrix<double> make_used_rows<double>(const Csr&, int);
template void spmm_used_rows(const UsedRowsMatrix<float>&, const DenseSide<float>&, int);
template void spmm_used_rows(const UsedRowsMatrix<double>&, const DenseSide<double>&, int);

}  // namespace gnnbench::cpu
