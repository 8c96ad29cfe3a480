#include <gnnbench/training/grid_trainer.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/problem.hpp>
#include <gnnbench/usize.hpp>

#include <algorithm>

namespace gnnbench {

std::vector<Part> GridLayout::panels() const {
    std::vector<Part> out;
    for (int x = 0; x < extent(Axis::x); ++x) {
        const PartRange parts = row_parts(x, at(Axis::z));
        for (Part p = parts.first; p < parts.first + parts.count; ++p) out.push_back(p);
    }
    return out;
}

std::vector<GlobalId> GridLayout::owned() const { return index.owned(row_parts().first, row_parts().count); }

std::int64_t GridLayout::largest_panel() const {
    std::int64_t most = 0;
    for (const Part p : panels()) most = std::max(most, index.size(p));
    return most;
}

std::int64_t GridLayout::product_columns(std::int64_t width, int k) const {
    const std::int64_t of_block = block_size(width, extent(Axis::y), k);
    return product_cut == ProductCut::rows ? of_block : block_size(of_block, extent(Axis::z), at(Axis::z));
}

std::int64_t GridLayout::product_first_column(std::int64_t width, int k) const {
    const std::int64_t first = block_begin(width, extent(Axis::y), k);
    if (product_cut == ProductCut::rows) return first;
    return first + block_begin(block_size(width, extent(Axis::y), k), extent(Axis::z), at(Axis::z));
}

std::vector<std::int64_t> layer_columns(const ModelSpec& model, Buffers buffers,
                                        const std::function<std::int64_t(std::int64_t width)>& columns) {
    std::vector<std::int64_t> of_layer;
    for (std::size_t l = 0; l + 1 < model.widths.size(); ++l)
        of_layer.push_back(columns(std::max(model.widths[l], model.widths[l + 1])));
    if (buffers == Buffers::separate) return of_layer;
    return {*std::max_element(of_layer.begin(), of_layer.end())};
}

namespace {

/// Columns of the widest block of T or U in each layer, or in all layers: block 0's.
std::vector<std::int64_t> block_columns(const GridLayout& at, const ModelSpec& model, Buffers buffers) {
    return layer_columns(model, buffers, [&](std::int64_t width) { return at.product_columns(width, 0); });
}
std::vector<std::int64_t> panel_columns(const GridLayout& at, const ModelSpec& model, Buffers buffers) {
    return layer_columns(model, buffers, [&](std::int64_t width) { return at.columns(width); });
}

}  // namespace

GridBroadcasts::GridBroadcasts(GridRank rank, const ModelSpec& model, Buffers buffers)
    : rank_(rank), panels_(rank.layout.panels()) {
    const GridLayout& at = rank.layout;
    if (at.extent(Axis::x) > 1) panel_ = {rank.backend, at.largest_panel(), panel_columns(at, model, buffers)};
    if (at.extent(Axis::y) > 1)
        column_block_ = {rank.backend, at.product_rows(), block_columns(at, model, buffers)};
}

void GridBroadcasts::for_each_panel(MatrixView b, const std::function<void(int k, MatrixView b_k)>& visit) {
    const GridLayout& at = rank_.layout;
    Communicator& column = rank_.grid.along(Axis::x);
    for (int k = 0; k < static_cast<int>(panels_.size()); ++k) {
        const Part part = panels_[usize(k)];
        const int root = at.panel_owner(k);
        const std::int64_t size = at.index.size(part);
        const MatrixView b_k =
            root == column.rank()
                ? b.rows_from(at.index.offset(part) - at.index.offset(at.row_parts().first), size)
                : panel_.view(size, b.cols);
        column.broadcast_now(b_k, root);
        visit(k, b_k);
    }
}

void GridBroadcasts::for_each_column_block(MatrixView t, std::int64_t width,
                                           const std::function<void(int k, MatrixView t_k)>& visit) {
    const GridLayout& at = rank_.layout;
    Communicator& row = rank_.grid.along(Axis::y);
    const int blocks = static_cast<int>(std::min<std::int64_t>(row.size(), width));
    for (int k = 0; k < blocks; ++k) {
        const MatrixView t_k =
            k == row.rank() ? t : column_block_.view(at.product_rows(), at.product_columns(width, k));
        row.broadcast_now(t_k, k);
        visit(k, t_k);
    }
}

void GridBroadcasts::transform(MatrixView t, MatrixView w, MatrixView z, const Epilogue& epilogue) {
    const GridLayout& at = rank_.layout;
    const MatrixView w_y = w.cols_from(at.first_column(w.cols), at.columns(w.cols));
    std::int64_t from = 0;
    for_each_column_block(t, w.rows, [&](int k, MatrixView t_k) {
        const bool last = from + t_k.cols == w.rows;
        rank_.backend.gemm(Transpose::no, t_k, Transpose::no, w_y.rows_from(from, t_k.cols), z,
                           {.beta = k == 0 ? 0.0 : 1.0}, last ? epilogue : Epilogue{});
        from += t_k.cols;
    });
}

void GridBroadcasts::state_panels(VolumeStatement& v, const GridLayout& at, std::int64_t width) {
    const std::vector<Part> panels = at.panels();
    for (int k = 0; k < static_cast<int>(panels.size()); ++k)
        v.broadcast(at.index.size(panels[usize(k)]) * at.columns(width), at.extent(Axis::x),
                    at.panel_owner(k) == at.at(Axis::x));
}

void GridBroadcasts::state_column_blocks(VolumeStatement& v, const GridLayout& at, std::int64_t width) {
    for (int k = 0; k < at.extent(Axis::y); ++k)
        v.broadcast(at.product_rows() * at.product_columns(width, k), at.extent(Axis::y), k == at.at(Axis::y));
}

void GridBroadcasts::state_memory(MemoryStatement& m, const GridLayout& at, const ModelSpec& model,
                                  Buffers buffers) {
    if (at.extent(Axis::x) > 1)
        LayerwiseBuffers::state_memory(m, at.largest_panel(), panel_columns(at, model, buffers));
    if (at.extent(Axis::y) > 1)
        LayerwiseBuffers::state_memory(m, at.product_rows(), block_columns(at, model, buffers));
}

GridProducts::~GridProducts() = default;

void backward_by_rows(GridRank rank, GridBroadcasts& broadcasts, MatrixView h, MatrixView u, MatrixView w,
                      MatrixView dw, std::optional<MatrixView> dh) {
    const GridLayout& at = rank.layout;
    const std::int64_t f = w.rows, g = w.cols, first = at.first_column(f), count = at.columns(f);
    const MatrixView w_y = w.rows_from(first, count), dw_y = dw.rows_from(first, count);
    std::int64_t from = 0;
    broadcasts.for_each_column_block(u, g, [&](int k, MatrixView u_k) {
        // dW_yk ← H_xyᵀ U_xk
        rank.backend.gemm(Transpose::yes, h, Transpose::no, u_k, dw_y.cols_from(from, u_k.cols));
        // dH_xy ← dH_xy + U_xk W_ykᵀ
        if (dh)
            rank.backend.gemm(Transpose::no, u_k, Transpose::yes, w_y.cols_from(from, u_k.cols), *dh,
                              {.beta = k == 0 ? 0.0 : 1.0});
        from += u_k.cols;
    });
    rank.grid.plane(Axis::y).all_reduce_now(dw_y);
    rank.grid.along(Axis::y).all_gather_now(dw, block_sizes(f, at.extent(Axis::y)));
}

void state_backward_by_rows(VolumeStatement& v, const GridLayout& at, std::int64_t f, std::int64_t g) {
    GridBroadcasts::state_column_blocks(v, at, g);
    const int sharing = at.extent(Axis::x) * at.extent(Axis::z);
    v.all_reduce(at.columns(f) * g, sharing, at.at(Axis::x) * at.extent(Axis::z) + at.at(Axis::z));
    v.all_gather(f * g, at.columns(f) * g, at.extent(Axis::y));
}

void gather_tiles(GridRank rank, MatrixView whole, MatrixView buffer,
                  const std::function<Tile(const GridPlace&)>& tile_of) {
    const GridLayout& at = rank.layout;
    const int ranks = at.shape.ranks(), self = at.shape.rank(at.place);
    if (ranks == 1) return;
    std::vector<std::int64_t> counts;
    std::vector<MatrixView> tiles, blocks;  // by rank: in the buffer, in the matrix
    std::int64_t from = 0;
    for (int r = 0; r < ranks; ++r) {
        const Tile t = tile_of(at.shape.place(r));
        const std::int64_t count = counts.emplace_back(t.rows * t.columns);
        tiles.push_back(
            buffer.reshaped(buffer.rows * buffer.cols, 1).rows_from(from, count).reshaped(t.rows, t.columns));
        blocks.push_back(whole.rows_from(t.first_row, t.rows).cols_from(t.first_column, t.columns));
        from += count;
    }
    rank.backend.copy(blocks[usize(self)], tiles[usize(self)]);
    rank.grid.world().all_gather_now(buffer.reshaped(from, 1), counts);
    for (int r = 0; r < ranks; ++r)
        if (r != self) rank.backend.copy(tiles[usize(r)], blocks[usize(r)]);
}

std::unique_ptr<PanelBlocks> make_panel_blocks(bool travel, const Adjacency& a, GridRank rank) {
    const GridLayout& at = rank.layout;
    const std::vector<Part> panels = at.panels();
    return travel ? send_blocks(a, at.index, at.line_parts(), panels, rank.backend, rank.grid.along(Axis::y))
                  : keep_blocks(a, at.index, at.line_parts(), panels, rank.backend);
}

void state_grid_host_memory(HostStatement& m, const Problem& p, const GridLayout& at, bool travel) {
    const std::vector<GlobalId> owned = at.owned();
    m.take(host_bytes::owned_id * std::ssize(owned));
    m.reads_features(owned, at.columns(p.model.widths.front()));
    m.reads_labels(owned);
    const std::vector<Part> panels = at.panels();
    if (!travel) return state_panel_cuts(m, p, at.line_parts(), panels);
    // This rank's run of panels stays on its device as it is: part of the stated device memory.
    const auto first = usize(block_begin(std::ssize(panels), at.extent(Axis::y), at.at(Axis::y)));
    const auto count = usize(block_size(std::ssize(panels), at.extent(Axis::y), at.at(Axis::y)));
    state_sent_panel_cuts(m, p, at.line_parts(), std::span(panels).subspan(first, count));
}

TravelStatement::TravelStatement(bool travel, const Problem& problem, const GridLayout& at)
    : travel_(travel), rows_(at.line_rows()), ranks_(at.extent(Axis::y)), rank_(at.at(Axis::y)) {
    if (!travel) return;
    const Adjacency a = adjacency_of(problem);
    const std::vector<Part> panels = at.panels();
    symmetric_ = a.symmetric();
    forward_ = block_nonzeros(a, at.index, at.line_parts(), panels, Direction::forward);
    backward_ = block_nonzeros(a, at.index, at.line_parts(), panels, Direction::backward);
}

void TravelStatement::state(VolumeStatement& v, Direction d) const {
    if (travel_) state_sent_blocks(v, rows_, d == Direction::forward ? forward_ : backward_, ranks_, rank_);
}

void TravelStatement::state_memory(MemoryStatement& m) const {
    if (!travel_) return;
    std::int64_t largest = 0;
    for (const auto* nonzeros : {&forward_, &backward_}) {
        if (nonzeros == &backward_ && symmetric_) continue;
        state_sent_blocks_memory(m, rows_, *nonzeros, ranks_, rank_);
        for (const std::int64_t count : *nonzeros) largest = std::max(largest, count);
    }
    if (ranks_ > 1) state_block_memory(m, rows_, largest);  // receive buffer for the blocks of others
}

std::string grid_why_unsupported(const Setting& s) {
    if (s.model.attends())
        return "trains GCN layers alone: a row's columns lie on several ranks, so that its scores would take "
               "an all-reduce of H numbers a row and side (gatv2: H an entry), and its softmax a maximum "
               "and a sum over the ranks that share the row";
    if (s.model.kind != LayerKind::gcn)
        return "trains GCN layers alone: its products of dense matrices are cut by columns for one weight a layer";
    if (s.model.aggregate_input)
        return "aggregate_input is for row-parallel schemes; this one cuts the features by columns too";
    if (s.model.sparse_features)
        return "sparse_features is for row-parallel schemes; this one cuts X by columns and moves its blocks";
    return {};
}

}  // namespace gnnbench
