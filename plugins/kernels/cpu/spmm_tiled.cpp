#include <algorithm>
#include <cstring>

#include "threads.hpp"
#include "tiled.hpp"

namespace gnnbench::cpu {
namespace {

/// Columns [first, first + count) of B and C; `width` is count rounded up to whole steps.
struct Panel {
    std::int64_t first, count, width;
};

/// `cols` columns cut into panels as equal as steps allow.
std::vector<Panel> cut_columns(std::int64_t cols) {
    const std::int64_t steps = (cols + panel_step - 1) / panel_step;
    const std::int64_t panels = (steps * panel_step + widest_panel - 1) / widest_panel;
    std::vector<Panel> out;
    for (std::int64_t i = 0; i < panels; ++i) {
        const std::int64_t first = steps * i / panels * panel_step, end = steps * (i + 1) / panels * panel_step;
        out.push_back({first, std::min(end, cols) - first, end - first});
    }
    return out;
}

void multiply_chunk(const TiledMatrix& a, const DenseSide& d, const Panel& panel, std::int64_t chunk,
                    const float* packed, float* sums) {
    const auto k = static_cast<std::size_t>(chunk);
    const RowRange rows{a.chunk_rows[k], a.chunk_rows[k + 1]};
    std::memset(sums, 0, static_cast<std::size_t>((rows.end - rows.begin) * panel.width) * sizeof(float));
    for (std::int64_t i = a.chunk_blocks[k]; i < a.chunk_blocks[k + 1]; ++i) {
        const TileBlock& block = a.blocks[static_cast<std::size_t>(i)];
        multiply_block(a, block, packed + block.tile * a.tile_cols * panel.width, sums, panel.width);
    }
    finish_rows(d, rows, panel.first, panel.count, sums, panel.width);
    if (d.epilogue.empty) return;
    MatrixView part = d.c.rows_from(rows.begin, rows.end - rows.begin);
    part.data = static_cast<float*>(part.data) + panel.first;
    part.cols = panel.count;
    epilogue_rows(d.epilogue, part, part, {0, part.rows}, {rows.begin, panel.first});
}

}  // namespace

void spmm_tiled(const TiledMatrix& a, const DenseSide& d, int threads, Workspace& workspace) {
    const std::vector<Panel> panels = cut_columns(d.c.cols);
    const auto widest = static_cast<std::size_t>(
        std::max_element(panels.begin(), panels.end(), [](auto& x, auto& y) { return x.width < y.width; })->width);
    float* packed = workspace.shared(static_cast<std::size_t>(a.cols) * widest);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        float* sums = workspace.of_thread(omp_get_thread_num(), static_cast<std::size_t>(a.widest_chunk) * widest);
        for (const Panel& panel : panels) {
            constexpr std::int64_t run = 1024;
#pragma omp for schedule(static)
            for (std::int64_t p = 0; p < a.cols; p += run)
                pack_rows(d.b, a.column_at.data(), {p, std::min(a.cols, p + run)}, panel.first, panel.count,
                          packed, panel.width);
#pragma omp for schedule(dynamic)
            for (std::int64_t chunk = 0; chunk < a.chunks(); ++chunk)
                multiply_chunk(a, d, panel, chunk, packed, sums);
        }
    }
}

}  // namespace gnnbench::cpu
