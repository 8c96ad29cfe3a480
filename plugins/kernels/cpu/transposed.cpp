#include "transposed.hpp"

#include <algorithm>

#include <gnnbench/usize.hpp>

#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

/// c ← beta · c; zeros where beta is 0, whatever c contains.
template <class T>
void scale(const DenseSide<T>& d, int threads) {
    const MatrixView c = d.c;
    if (d.beta == 1) return;
    parallel_ranges(threads, c.rows, rows_for(1 << 14, c.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            T* row = static_cast<T*>(c.data) + r * c.ld;
            if (d.beta == 0)
                std::fill_n(row, c.cols, T{0});
            else
                for (std::int64_t j = 0; j < c.cols; ++j) row[j] *= d.beta;
        }
    });
}

template <class T>
void finish(const DenseSide<T>& d, int threads) {
    if (d.epilogue.empty) return;
    parallel_ranges(threads, d.c.rows, rows_for(1 << 14, d.c.cols), [&](std::int64_t begin, std::int64_t end) {
        epilogue_rows(d.epilogue, d.c, d.c, {begin, end});
    });
}

}  // namespace

ColumnRuns cut_into_runs(const Pattern& a, const std::int32_t* vertex_at, int threads) {
    const auto column = [&](std::int64_t at) {
        const std::int32_t index = a.indices[at];
        return static_cast<std::int64_t>(vertex_at ? vertex_at[index] : index);
    };
    const std::int64_t runs = std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(1, a.cols));
    ColumnRuns out;
    out.first = {0};
    if (runs > 1) {
        std::vector<std::int64_t> count(usize(a.cols));
        for (std::int64_t at = 0; at < a.nonzeros(); ++at) ++count[usize(column(at))];
        const std::int64_t work = a.nonzeros() + 2 * a.cols;
        for (std::int64_t c = 0, done = 0; c < a.cols && std::ssize(out.first) < runs; ++c) {
            done += count[usize(c)] + 2;
            if (done >= work * std::ssize(out.first) / runs) out.first.push_back(c + 1);
        }
    }
    out.first.push_back(a.cols);
    const std::int64_t cuts = out.runs() - 1;
    out.split = HostArray<std::int32_t>(usize(cuts * a.rows));
    parallel_ranges(threads, a.rows, 1 << 12, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r)
            for (std::int64_t q = 0, at = a.indptr[r]; q < cuts; ++q) {
                while (at < a.indptr[r + 1] && column(at) < out.first[usize(q) + 1]) ++at;
                out.split[usize(q * a.rows + r)] = static_cast<std::int32_t>(at - a.indptr[r]);
            }
    });
    return out;
}

template <class T>
void spmm_transposed(const FlatCsr<T>& a, const std::int32_t* vertex_at, const ColumnRuns& runs,
                     const DenseSide<T>& d, int threads) {
    scale(d, threads);
    const std::int64_t count = runs.runs();
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1 && count > 1)
    for (std::int64_t q = 0; q < count; ++q)
        transposed_operations<T>().rows(a, vertex_at, q == 0 ? nullptr : runs.split.data() + (q - 1) * a.rows,
                                        q + 1 == count ? nullptr : runs.split.data() + q * a.rows, d);
    finish(d, threads);
}
template void spmm_transposed(const FlatCsr<float>&, const std::int32_t*, const ColumnRuns&,
                              const DenseSide<float>&, int);
template void spmm_transposed(const FlatCsr<double>&, const std::int32_t*, const ColumnRuns&,
                              const DenseSide<double>&, int);

template <class T>
BlocksByTile blocks_by_tile(const TiledMatrix<T>& a) {
    BlocksByTile out;
    out.first.assign(usize((a.cols + a.tile_cols - 1) / a.tile_cols) + 1, 0);
    for (const TileBlock& b : a.blocks) ++out.first[usize(b.tile) + 1];
    for (std::size_t t = 1; t < out.first.size(); ++t) out.first[t] += out.first[t - 1];
    out.places.resize(a.blocks.size());
    std::vector<std::int64_t> next(out.first.begin(), out.first.end() - 1);
    for (std::size_t k = 0; k < usize(a.chunks()); ++k)
        for (std::int64_t i = a.chunk_blocks[k]; i < a.chunk_blocks[k + 1]; ++i) {
            const auto tile = usize(a.blocks[usize(i)].tile);
            out.places[usize(next[tile]++)] = {i, a.chunk_rows[k]};
        }
    return out;
}
template BlocksByTile blocks_by_tile(const TiledMatrix<float>&);
template BlocksByTile blocks_by_tile(const TiledMatrix<double>&);

template <class T>
void spmm_transposed(const TiledMatrix<T>& a, const BlocksByTile& order, const DenseSide<T>& d, int threads) {
    scale(d, threads);
    const auto tiles = static_cast<std::int64_t>(order.first.size()) - 1;
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1 && tiles > 1)
    for (std::int64_t t = 0; t < tiles; ++t)
        for (auto i = usize(order.first[usize(t)]); i < usize(order.first[usize(t) + 1]); ++i)
            transposed_operations<T>().block(a, order.places[i], d);
    finish(d, threads);
}
template void spmm_transposed(const TiledMatrix<float>&, const BlocksByTile&, const DenseSide<float>&, int);
template void spmm_transposed(const TiledMatrix<double>&, const BlocksByTile&, const DenseSide<double>&, int);

}  // namespace gnnbench::cpu
