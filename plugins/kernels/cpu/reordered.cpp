#include "reordered.hpp"

#include <algorithm>

#include "panels.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {

ReorderedMatrix make_reordered(const Csr& a, ClusterOrder order, int threads) {
    ReorderedMatrix out;
    out.vertex_at = std::move(order.vertex_at);
    const auto rows = static_cast<std::size_t>(a.rows);
    std::vector<std::int32_t> position(rows);
    out.indptr = HostArray<std::int64_t>(rows + 1);
    out.indptr[0] = 0;
    for (std::size_t p = 0; p < rows; ++p) {
        const auto v = static_cast<std::size_t>(out.vertex_at[p]);
        position[v] = static_cast<std::int32_t>(p);
        out.indptr[p + 1] = out.indptr[p] + a.indptr[v + 1] - a.indptr[v];
    }
    out.indices = HostArray<std::int32_t>(a.indices.size());
    out.values = HostArray<float>(a.values.size());
    parallel_chunks(threads, a.rows, 4096, [&](std::int64_t begin, std::int64_t end) {
        for (auto p = static_cast<std::size_t>(begin); p < static_cast<std::size_t>(end); ++p) {
            const auto v = static_cast<std::size_t>(out.vertex_at[p]);
            auto to = static_cast<std::size_t>(out.indptr[p]);
            for (auto j = static_cast<std::size_t>(a.indptr[v]); j < static_cast<std::size_t>(a.indptr[v + 1]);
                 ++j, ++to) {
                out.indices[to] = position[static_cast<std::size_t>(a.indices[j])];
                out.values[to] = static_cast<float>(a.values[j]);
            }
        }
    });
    out.csr = {out.indptr.data(), out.indices.data(), out.values.data(), a.rows, a.cols};
    return out;
}

namespace {

void multiply_run(const ReorderedMatrix& a, const DenseSide& packed, const DenseSide& d, const Panel& panel,
                  RowRange rows, std::int64_t ahead, float* sums) {
    multiply_rows(a.csr, packed, rows, {sums, panel.width, ahead});
    finish_rows(d, rows, a.vertex_at.data(), panel, sums);
}

}  // namespace

void spmm_reordered(const ReorderedMatrix& a, const DenseSide& d, int threads, Workspace& workspace) {
    const std::vector<Panel> panels = cut_columns(d.c.cols);
    const std::int64_t widest = widest_of(panels), rows = a.csr.rows;
    float* packed = workspace.shared(static_cast<std::size_t>(rows * widest));
    // Runs of about equal work; inside one, a few rows at a time, so that their sums stay in the first cache.
    const std::int64_t runs = std::max<std::int64_t>(1, std::min<std::int64_t>(rows / 64, 256 * threads));
    constexpr std::int64_t pack_step = 1024, few = 32;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        float* sums = workspace.of_thread(omp_get_thread_num(), static_cast<std::size_t>(few * widest));
        for (const Panel& panel : panels) {
#pragma omp for schedule(static)
            for (std::int64_t p = 0; p < rows; p += pack_step)
                pack_rows(d.b, a.vertex_at.data(), {p, std::min(rows, p + pack_step)}, panel, packed);
            const DenseSide side{{packed, rows, panel.width, panel.width, DType::f32},
                                 {sums, rows, panel.width, panel.width, DType::f32},
                                 1,
                                 0,
                                 FlatEpilogue({})};
            const std::int64_t ahead = prefetch_distance(a.csr, side);
#pragma omp for schedule(dynamic)
            for (std::int64_t i = 0; i < runs; ++i) {
                const RowRange run = equal_work(a.csr, i, runs);
                for (std::int64_t r = run.begin; r < run.end; r += few)
                    multiply_run(a, side, d, panel, {r, std::min(run.end, r + few)}, ahead, sums);
            }
        }
    }
}

}  // namespace gnnbench::cpu
