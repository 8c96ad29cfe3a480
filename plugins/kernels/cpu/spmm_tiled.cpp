#include <algorithm>
#include <cstring>

#include <gnnbench/usize.hpp>

#include "threads.hpp"
#include "tiled.hpp"

namespace gnnbench::cpu {
namespace {

template <class T>
void multiply_chunk(const TiledMatrix<T>& a, const DenseSide<T>& d, const Panel& panel, std::int64_t chunk,
                    const T* packed, T* sums) {
    const auto k = usize(chunk);
    const RowRange rows{a.chunk_rows[k], a.chunk_rows[k + 1]};
    std::memset(sums, 0, usize((rows.end - rows.begin) * panel.width) * sizeof(T));
    const std::int64_t first = a.chunk_blocks[k], end = a.chunk_blocks[k + 1];
    for (std::int64_t i = first; i < end; ++i) {
        const TileBlock& block = a.blocks[usize(i)];
        // The chunk that this thread takes next most likely begins with the tile with which this one began.
        const std::int64_t next = a.blocks[usize(i + 1 < end ? i + 1 : first)].tile * a.tile_cols;
        const TilesOfB<T> b{packed + block.tile * a.tile_cols * panel.width, packed + next * panel.width,
                            std::min(a.tile_cols, a.cols - next) * panel.width};
        multiply_block(a, block, b, sums, panel.width);
    }
    finish_rows(d, rows, nullptr, panel, sums);
}

}  // namespace

template <class T>
void multiply_chunks(const TiledMatrix<T>& a, const T* packed, const DenseSide<T>& d, const Panel& panel,
                     int threads, Workspace& workspace) {
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        T* sums = workspace.of_thread<T>(omp_get_thread_num(), usize(a.widest_chunk * panel.width));
#pragma omp for schedule(dynamic)
        for (std::int64_t chunk = 0; chunk < a.chunks(); ++chunk) multiply_chunk(a, d, panel, chunk, packed, sums);
    }
}

template <class T>
void spmm_tiled(const TiledMatrix<T>& a, const DenseSide<T>& d, int threads, Workspace& workspace) {
    const std::vector<Panel> panels = cut_columns(d.c.cols);
    T* packed = workspace.shared<T>(usize(a.cols * widest_of(panels)));
    for (const Panel& panel : panels) {
        pack_rows(d.b, a.column_at.data(), a.cols, panel, threads, packed);
        multiply_chunks(a, packed, d, panel, threads, workspace);
    }
}

template void multiply_chunks(const TiledMatrix<float>&, const float*, const DenseSide<float>&, const Panel&, int,
                              Workspace&);
template void multiply_chunks(const TiledMatrix<double>&, const double*, const DenseSide<double>&, const Panel&,
                              int, Workspace&);
template void spmm_tiled(const TiledMatrix<float>&, const DenseSide<float>&, int, Workspace&);
template void spmm_tiled(const TiledMatrix<double>&, const DenseSide<double>&, int, Workspace&);

}  // namespace gnnbench::cpu
