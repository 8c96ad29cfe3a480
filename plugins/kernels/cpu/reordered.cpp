#include "reordered.hpp"

#include <algorithm>

#include <gnnbench/usize.hpp>

#include "panels.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {

template <class T>
// NOLINTNEXTLINE(performance-unnecessary-value-param): its arrays are moved from
ReorderedMatrix<T> make_reordered(const Csr& a, ClusterOrder order, int threads) {
    ReorderedMatrix<T> out;
    out.vertex_at = std::move(order.vertex_at);
    const auto rows = usize(a.rows);
    HostArray<std::int32_t> position(rows);
    out.indptr = HostArray<std::int64_t>(rows + 1);
    out.indptr[0] = 0;
    for (std::size_t p = 0; p < rows; ++p) {
        const auto v = usize(out.vertex_at[p]);
        position[v] = static_cast<std::int32_t>(p);
        out.indptr[p + 1] = out.indptr[p] + a.indptr[v + 1] - a.indptr[v];
    }
    out.indices = HostArray<std::int32_t>(a.indices.size());
    out.values = HostArray<T>(a.values.size());
    parallel_chunks(threads, a.rows, 4096, [&](std::int64_t begin, std::int64_t end) {
        for (auto p = usize(begin); p < usize(end); ++p) {
            const auto v = usize(out.vertex_at[p]);
            auto to = usize(out.indptr[p]);
            for (auto j = usize(a.indptr[v]); j < usize(a.indptr[v + 1]); ++j, ++to) {
                out.indices[to] = position[usize(a.indices[j])];
                out.values[to] = static_cast<T>(a.values[j]);
            }
        }
    });
    out.csr = {{out.indptr.data(), out.indices.data(), a.rows, a.cols}, out.values.data()};
    return out;
}

namespace {

template <class T>
void multiply_run(const FlatCsr<T>& a, const std::int32_t* row_at, const DenseSide<T>& packed,
                  const DenseSide<T>& d, const Panel& panel, RowRange rows, Ahead ahead, T* sums) {
    multiply_rows(a, packed, rows, RowsPass<T>{sums, panel.width, ahead});
    finish_rows(d, rows, row_at, panel, sums);
}

}  // namespace

template <class T>
void multiply_packed(const FlatCsr<T>& a, const std::int32_t* row_at, const T* packed, const DenseSide<T>& d,
                     const Panel& panel, int threads, Workspace& workspace) {
    // Runs of about equal work; inside one, a few rows at a time, so that their sums stay in the first cache.
    const std::int64_t runs =
        std::max<std::int64_t>(1, std::min<std::int64_t>(a.rows / 64, std::int64_t{256} * threads));
    constexpr std::int64_t few = 32;
    const ConstMatrixView b{packed, a.cols, panel.width, panel.width, dtype_of<T>};
    const Ahead ahead = prefetch_distance(a, b);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        T* sums = workspace.of_thread<T>(omp_get_thread_num(), usize(few * panel.width));
        const DenseSide<T> side{
            b, {sums, a.rows, panel.width, panel.width, dtype_of<T>}, 1, 0, FlatEpilogue<T>({})};
#pragma omp for schedule(dynamic)
        for (std::int64_t i = 0; i < runs; ++i) {
            const RowRange run = equal_work(a, i, runs);
            for (std::int64_t r = run.begin; r < run.end; r += few)
                multiply_run(a, row_at, side, d, panel, {r, std::min(run.end, r + few)}, ahead, sums);
        }
    }
}

template <class T>
void spmm_reordered(const ReorderedMatrix<T>& a, const DenseSide<T>& d, int threads, Workspace& workspace) {
    const std::vector<Panel> panels = cut_columns(d.c.cols);
    T* packed = workspace.shared<T>(usize(a.csr.cols * widest_of(panels)));
    for (const Panel& panel : panels) {
        pack_rows(d.b, a.vertex_at.data(), a.csr.cols, panel, threads, packed);
        multiply_packed(a.csr, a.vertex_at.data(), packed, d, panel, threads, workspace);
    }
}

template ReorderedMatrix<float> make_reordered<float>(const Csr&, ClusterOrder, int);
template ReorderedMatrix<double> make_reordered<double>(const Csr&, ClusterOrder, int);
template void multiply_packed(const FlatCsr<float>&, const std::int32_t*, const float*, const DenseSide<float>&,
                              const Panel&, int, Workspace&);
template void multiply_packed(const FlatCsr<double>&, const std::int32_t*, const double*, const DenseSide<double>&,
                              const Panel&, int, Workspace&);
template void spmm_reordered(const ReorderedMatrix<float>&, const DenseSide<float>&, int, Workspace&);
template void spmm_reordered(const ReorderedMatrix<double>&, const DenseSide<double>&, int, Workspace&);

}  // namespace gnnbench::cpu
