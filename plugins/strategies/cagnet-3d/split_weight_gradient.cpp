#include "split_weight_gradient.hpp"

#include <algorithm>
#include <vector>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// The parts of grid row x: those of its q layers.
PartRange parts_of_row(const GridLayout& at, int x) {
    return {at.row_parts(x, 0).first, at.extent(Axis::z) * at.parts_per_block()};
}

/// What the largest layer needs, in elements or columns.
struct Sizes {
    std::int64_t exchanged = 0, left_columns = 0, block = 0, tiles = 0;
};

Sizes sizes_of(const GridLayout& at, const ModelSpec& model) {
    const int q = at.extent(Axis::x), x = at.at(Axis::x), y = at.at(Axis::y);
    const std::int64_t n_x = at.line_rows(), n_y = parts_of_row(at, y).size(at.index);
    Sizes s;
    for (std::size_t l = 0; l + 1 < model.widths.size(); ++l) {
        const std::int64_t f = model.widths[l], g = model.widths[l + 1], g_x = block_size(g, q, x);
        s.exchanged = std::max({s.exchanged, n_x * at.columns(g), n_y * g_x});
        s.left_columns = std::max(s.left_columns, g_x);
        s.block = std::max(s.block, at.columns(f) * g_x);
        s.tiles = std::max(s.tiles, f * g);
    }
    return s;
}

/// Rank (x, y, z)'s tile of dW: rows of block y, columns of block z of the q even blocks of block x.
Tile tile_of(const GridPlace& place, int q, std::int64_t f, std::int64_t g) {
    const int x = place[Axis::x], y = place[Axis::y], z = place[Axis::z];
    const std::int64_t g_x = block_size(g, q, x);
    return {.first_row = block_begin(f, q, y),
            .rows = block_size(f, q, y),
            .first_column = block_begin(g, q, x) + block_begin(g_x, q, z),
            .columns = block_size(g_x, q, z)};
}

}  // namespace

SplitWeightGradient::SplitWeightGradient(GridRank rank, const ModelSpec& model) {
    const Sizes s = sizes_of(rank.layout, model);
    exchanged_ = rank.backend.matrix(s.exchanged, 1);
    left_ = rank.backend.matrix(rank.layout.largest_panel(), s.left_columns);
    block_ = rank.backend.matrix(s.block, 1);
    tiles_ = rank.backend.matrix(s.tiles, 1);
}

void SplitWeightGradient::gather_columns(GridRank rank, MatrixView u, MatrixView whole_u) {
    const int q = rank.layout.extent(Axis::z), self = rank.layout.at(Axis::z);
    const MatrixView all = exchanged_.view().reshaped(whole_u.rows * whole_u.cols, 1);
    std::vector<std::int64_t> counts;
    std::vector<MatrixView> parts, columns;  // by z: in the buffer, in U_xy
    for (int z = 0; z < q; ++z) {
        const std::int64_t first = block_begin(whole_u.cols, q, z), count = block_size(whole_u.cols, q, z);
        counts.push_back(whole_u.rows * count);
        parts.push_back(all.rows_from(whole_u.rows * first, counts.back()).reshaped(whole_u.rows, count));
        columns.push_back(whole_u.cols_from(first, count));
    }
    rank.backend.copy(u, parts[usize(self)]);
    rank.grid.along(Axis::z).all_gather_now(all, counts);
    for (int z = 0; z < q; ++z) rank.backend.copy(parts[usize(z)], columns[usize(z)]);
}

MatrixView SplitWeightGradient::transpose(GridRank rank, MatrixView whole_u, std::int64_t g) {
    const GridLayout& at = rank.layout;
    const int x = at.at(Axis::x), y = at.at(Axis::y);
    if (x == y) {  // takes part, with nothing to send
        rank.grid.world().exchange_now({}, {});
        return whole_u;
    }
    const MatrixView u_yx =
        exchanged_.view().reshaped(parts_of_row(at, y).size(at.index), block_size(g, at.extent(Axis::x), x));
    const int peer = at.shape.rank({{y, x, at.at(Axis::z)}});
    const RowMessage out[] = {{peer, whole_u}}, in[] = {{peer, u_yx}};
    rank.grid.world().exchange_now(out, in);
    return u_yx;
}

// Split-3D product of dense matrices                                                        [Alg 2]
void SplitWeightGradient::compute(GridRank rank, GridBroadcasts& broadcasts, MatrixView h, MatrixView u,
                                  MatrixView whole_u, MatrixView dw) {
    const GridLayout& at = rank.layout;
    const int q = at.extent(Axis::x), y = at.at(Axis::y), z = at.at(Axis::z);
    gather_columns(rank, u, whole_u);
    const MatrixView u_yx = transpose(rank, whole_u, dw.cols);
    // Of U_yx, the rows of this rank's layer: U_yzx
    const PartRange own = at.row_parts(y, z);
    const MatrixView u_own = u_yx.rows_from(
        at.index.offset(own.first) - at.index.offset(parts_of_row(at, y).first), own.size(at.index));
    const MatrixView dw_yx = block_.view().reshaped(h.cols, u_yx.cols);
    broadcasts.for_each_panel(h, [&](int k, MatrixView h_kzy) {
        const MatrixView u_kzx = k == y ? u_own : left_.view().reshaped(h_kzy.rows, u_yx.cols);
        rank.grid.along(Axis::y).broadcast_now(u_kzx, k);
        // dW_yx ← dW_yx + (H_kzy)ᵀ U_kzx, over the vertices of layer z                       [Eq 8]
        rank.backend.gemm(Transpose::yes, h_kzy, Transpose::no, u_kzx, dw_yx, {.beta = k == 0 ? 0.0 : 1.0});
    });
    rank.grid.along(Axis::z).all_reduce_now(dw_yx);
    const Tile mine = tile_of(at.place, q, dw.rows, dw.cols);
    rank.backend.copy(dw_yx.cols_from(block_begin(dw_yx.cols, q, z), mine.columns),
                      dw.rows_from(mine.first_row, mine.rows).cols_from(mine.first_column, mine.columns));
    gather_tiles(rank, dw, tiles_.view(),
                 [&](const GridPlace& place) { return tile_of(place, q, dw.rows, dw.cols); });
}

void SplitWeightGradient::state_volume(VolumeStatement& v, const GridLayout& at, std::int64_t f, std::int64_t g) {
    const int q = at.extent(Axis::x), x = at.at(Axis::x), y = at.at(Axis::y), z = at.at(Axis::z);
    const std::int64_t whole = at.line_rows() * at.columns(g), g_x = block_size(g, q, x);
    v.all_gather(whole, at.line_rows() * at.product_columns(g), q);
    if (x != y) v.exchange(whole, parts_of_row(at, y).size(at.index) * g_x);
    GridBroadcasts::state_panels(v, at, f);
    const std::vector<Part> panels = at.panels();
    for (int k = 0; k < q; ++k) v.broadcast(at.index.size(panels[usize(k)]) * g_x, q, k == y);
    v.all_reduce(at.columns(f) * g_x, q, z);
    const Tile mine = tile_of(at.place, q, f, g);
    v.all_gather(f * g, mine.rows * mine.columns, at.shape.ranks());
}

void SplitWeightGradient::state_memory(MemoryStatement& m, const GridLayout& at, const ModelSpec& model) {
    const Sizes s = sizes_of(at, model);
    m.matrix(s.exchanged + s.block + s.tiles, 1);
    m.matrix(at.largest_panel(), s.left_columns);
}

}  // namespace gnnbench
