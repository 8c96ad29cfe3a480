// CAGNET, the 2D algorithm: SUMMA on a grid of ranks, sparse for Â's products and dense for those with W.
// A. Tripathy, K. Yelick, A. Buluç, "Reducing Communication in Graph Neural Network Training", SC 2020, the
// section "Block 2D". Equation numbers are README.md's; the paper's Aᵀ is Â here, rows being destinations.
//
//   R × C              the grid; rank (x, y) is in grid row x and grid column y
//   H_xy [n_x × f_y]   block of H: rows of grid row x, columns block y of f's C even blocks; so too T, Z, G, U
//   Â_xk [n_x × n_k]   block of Â: columns of panel k, whose rows of H are in one grid row
//   W    [f × g]       on every rank; W_ky: rows of block k, columns of block y
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/training/grid_trainer.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// "summa" needs Hᵀ's blocks to line up with U's, so a square grid.
bool uses_summa(const Params& params, const GridShape& s) {
    const std::string& way = params.choice("weight_gradient");
    return way == "summa" || (way == "auto" && s.extent(Axis::x) == s.extent(Axis::y));
}

class Summa2d final : public GridProducts {
public:
    Summa2d(const Adjacency& a, GridRank rank, const Params& params, const ModelSpec& model)
        : rank_(rank),
          backend_(rank.backend),
          grid_(rank.grid),
          at_(rank.layout),
          blocks_(make_panel_blocks(params.boolean("travel"), a, rank)),
          broadcasts_(rank, model, grid_buffers(params)),
          summa_(uses_summa(params, at_.shape)) {
        if (!summa_ || at_.shape.ranks() == 1) return;
        const int r = at_.extent(Axis::x);
        std::int64_t widest = 0, largest = 0;
        for (int l = 0; l < model.layers(); ++l) {
            const std::int64_t f = model.widths[usize(l)], g = model.widths[usize(l) + 1];
            widest = std::max(widest, block_size(f, r, at_.at(Axis::x)));
            largest = std::max(largest, f * g);
        }
        transposed_ = backend_.matrix(at_.index.size(at_.at(Axis::y)), widest);
        left_ = backend_.matrix(at_.index.largest(), widest);
        tiles_ = backend_.matrix(largest, 1);
    }

    void begin_layer(int l) override { broadcasts_.begin_layer(l); }

    // Sparse SUMMA along the grid columns                                            [Alg 1]
    void aggregate(Direction d, MatrixView h, MatrixView t) override {
        bool started = false;
        broadcasts_.for_each_panel(h, [&](int k, MatrixView h_k) {
            // T_xy ← T_xy + Â_xk H_ky                                    [Eq 1]; with Âᵀ: U = ÂᵀG   [Eq 3]
            started |= blocks_->multiply(d, k, h_k, t, started);
        });
        if (!started) backend_.fill(t, 0);
    }

    // Z_xy ← σ(Σ_k T_xk W_ky + b_y), T's blocks broadcast along the grid row               [Eq 2]
    void transform(MatrixView t, MatrixView w, MatrixView z, const Epilogue& e) override {
        broadcasts_.transform(t, w, z, e);
    }

    void backward(MatrixView h, MatrixView u, MatrixView w, MatrixView dw, std::optional<MatrixView> dh) override {
        // dW_y: ← Σ_x H_xyᵀ U_x: and dH_xy ← Σ_k U_xk W_ykᵀ in one sweep                     [Eq 6]
        if (!summa_) return backward_by_rows(rank_, broadcasts_, h, u, w, dw, dh);
        dense_summa(transpose(h, w.rows), u, dw);
        // dH_xy ← Σ_k U_xk W_ykᵀ                                                          [Eq 5]
        if (!dh) return;
        const MatrixView w_y = w.rows_from(at_.first_column(w.rows), dh->cols);
        broadcasts_.for_each_column_block(u, w.cols, [&](int k, MatrixView u_k) {
            const MatrixView w_yk = w_y.cols_from(block_begin(w.cols, at_.extent(Axis::y), k), u_k.cols);
            backend_.gemm(Transpose::no, u_k, Transpose::yes, w_yk, *dh, {.beta = k == 0 ? 0.0 : 1.0});
        });
    }
    std::string notes() const override {
        return fmt::format("{}; weight gradient: {}", blocks_->notes(), summa_ ? "summa" : "rows");
    }

private:
    /// The block of Hᵀ that rank (x, y) works with, still laid out as H: H_yx [n_y × f_x], from rank (y, x).
    MatrixView transpose(MatrixView h_xy, std::int64_t f) {
        const int x = at_.at(Axis::x), y = at_.at(Axis::y);
        if (x == y) {  // takes part, with nothing to send
            grid_.world().exchange_now({}, {});
            return h_xy;
        }
        const MatrixView h_yx =
            transposed_.view().reshaped(at_.index.size(y), block_size(f, at_.extent(Axis::x), x));
        const int peer = at_.shape.rank({{y, x, 0}});
        const RowMessage out[] = {{peer, h_xy}}, in[] = {{peer, h_yx}};
        grid_.world().exchange_now(out, in);
        return h_yx;
    }

    // Dense SUMMA of dW = HᵀU on the same grid                                            [Alg 2]
    void dense_summa(MatrixView h_yx, MatrixView u, MatrixView dw) {
        const int r = at_.extent(Axis::x), x = at_.at(Axis::x), y = at_.at(Axis::y);
        const MatrixView dw_xy = dw.rows_from(block_begin(dw.rows, r, x), block_size(dw.rows, r, x))
                                     .cols_from(block_begin(dw.cols, r, y), block_size(dw.cols, r, y));
        broadcasts_.for_each_panel(u, [&](int k, MatrixView u_ky) {
            const MatrixView h_kx = k == y ? h_yx : left_.view().reshaped(at_.index.size(k), dw_xy.rows);
            grid_.along(Axis::y).broadcast_now(h_kx, k);
            // dW_xy ← dW_xy + (Hᵀ)_xk U_ky                                              [Eq 4]
            backend_.gemm(Transpose::yes, h_kx, Transpose::no, u_ky, dw_xy, {.beta = k == 0 ? 0.0 : 1.0});
        });
        gather_tiles(rank_, dw, tiles_.view(), [&](const GridPlace& at) {
            return Tile{.first_row = block_begin(dw.rows, r, at[Axis::x]),
                        .rows = block_size(dw.rows, r, at[Axis::x]),
                        .first_column = block_begin(dw.cols, r, at[Axis::y]),
                        .columns = block_size(dw.cols, r, at[Axis::y])};
        });
    }

    GridRank rank_;
    Backend& backend_;
    ProcessGrid& grid_;
    const GridLayout& at_;
    std::unique_ptr<PanelBlocks> blocks_;
    GridBroadcasts broadcasts_;
    bool summa_;
    Matrix transposed_, left_;  // [n_y × widest f_x], [max n_k × widest f_x]
    Matrix tiles_;              // [largest f·g × 1]
};

class Cagnet2d final : public Strategy, public StatesHostMemory {
public:
    std::string why_unsupported(const Setting& s) const override {
        const std::int64_t rows = s.params.integer("grid_rows");
        if (rows > 0 && s.ranks % rows != 0)
            return fmt::format("grid_rows must divide the number of ranks; {} given for {} ranks", rows, s.ranks);
        const GridShape shape = grid(s.ranks, s.params);
        if (s.params.choice("weight_gradient") == "summa" && shape.extent(Axis::x) != shape.extent(Axis::y))
            return fmt::format(
                "weight_gradient summa transposes H block by block, so it needs a square grid; {} ranks "
                "make {}: use weight_gradient rows (or auto)",
                s.ranks, shape.text());
        return grid_why_unsupported(s);
    }

    std::vector<ParamTexts> arrangements(int ranks) const override {
        std::vector<ParamTexts> all;
        for (int rows = 1; rows <= ranks; ++rows)
            if (ranks % rows == 0) all.push_back({{"grid_rows", std::to_string(rows)}});
        return all;
    }

    /// One part per grid row. Travelling blocks of Â have an owner, so each of a grid row's C ranks needs as many
    /// panels as the others: lcm(R, C) parts.
    PartitionNeed partition_need(const Setting& s) const override {
        const GridShape shape = grid(s.ranks, s.params);
        const int rows = shape.extent(Axis::x), columns = shape.extent(Axis::y);
        return {.parts = s.params.boolean("travel") ? std::lcm(rows, columns) : rows};
    }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const GridShape shape = grid(p.ranks, p.params);
        const GridLayout at{p.index, shape, shape.place(rank)};
        const TravelStatement travel(p.params.boolean("travel"), p, at);
        const bool summa = uses_summa(p.params, shape);
        return grid_volume(
            p, at, element_bytes,
            [&](VolumeStatement& v, Direction d, std::int64_t width) {
                GridBroadcasts::state_panels(v, at, width);
                travel.state(v, d);
            },
            [&](VolumeStatement& v, std::int64_t f, std::int64_t) {
                GridBroadcasts::state_column_blocks(v, at, f);
            },
            [&](VolumeStatement& v, int layer, std::int64_t f, std::int64_t g) {
                if (!summa) return state_backward_by_rows(v, at, f, g);
                state_summa(v, at, f, g);
                if (layer > 0) GridBroadcasts::state_column_blocks(v, at, g);
            });
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const GridShape shape = grid(p.ranks, p.params);
        const GridLayout at{p.index, shape, shape.place(rank)};
        const auto& widths = p.model.widths;
        const Buffers buffers = grid_buffers(p.params);
        return grid_memory(p, at, element_bytes, buffers, [&](MemoryStatement& m) {
            TravelStatement(p.params.boolean("travel"), p, at).state_memory(m);
            GridBroadcasts::state_memory(m, at, p.model, buffers);
            if (!uses_summa(p.params, shape) || shape.ranks() == 1) return;
            std::int64_t f_x = 0, largest = 0;
            for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
                f_x = std::max(f_x, block_size(widths[l], at.extent(Axis::x), at.at(Axis::x)));
                largest = std::max(largest, widths[l] * widths[l + 1]);
            }
            m.matrix(p.index.size(at.at(Axis::y)) + p.index.largest(), f_x);  // H transposed, and of others
            m.matrix(largest, 1);                                             // dW's blocks
        });
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        const GridShape shape = grid(p.ranks, p.params);
        state_grid_host_memory(m, p, {p.index, shape, shape.place(rank)}, p.params.boolean("travel"));
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return make_grid_trainer(
            p, rank, grid(p.ranks, p.params), ProductCut::rows, grid_buffers(p.params),
            [&](const Adjacency& a, GridRank at) { return std::make_unique<Summa2d>(a, at, p.params, p.model); });
    }

private:
    /// The transposition, Hᵀ's blocks along the row and U's along the column, and the gathering of dW's blocks.
    static void state_summa(VolumeStatement& v, const GridLayout& at, std::int64_t f, std::int64_t g) {
        const int r = at.extent(Axis::x), x = at.at(Axis::x), y = at.at(Axis::y);
        const std::int64_t f_x = block_size(f, r, x);
        if (x != y) v.exchange(at.rows() * at.columns(f), at.index.size(y) * f_x);
        for (int k = 0; k < r; ++k) v.broadcast(at.index.size(k) * f_x, r, k == y);
        GridBroadcasts::state_panels(v, at, g);
        v.all_gather(f * g, f_x * at.columns(g), r * r);
    }

    /// The most nearly square grid, with more rows than columns where it is not: a grid row of fewer ranks keeps
    /// less of Â on each.
    static GridShape grid(int ranks, const Params& params) {
        int rows = static_cast<int>(params.integer("grid_rows"));
        if (rows == 0)
            for (rows = static_cast<int>(std::ceil(std::sqrt(ranks))); ranks % rows != 0;) ++rows;
        return {{rows, ranks / rows, 1}};
    }
};

constexpr ParamDecl parameters[] = {
    {"grid_rows", ParamType::integer, "0", 0, 1 << 20, nullptr,
     "rows of the grid of ranks; 0: the most nearly square grid, with at least as many rows as columns"},
    {"buffers", ParamType::choice, "separate", 0, 0, "separate|shared",
     "separate: each layer has its own for activations, their gradients, products and received blocks, as "
     "CAGNET's "
     "released code; shared: one for each layer's activations and gradients, the others once for all layers"},
    {"travel", ParamType::boolean, "false", 0, 0, nullptr,
     "blocks of A have one owner and are broadcast at each product, as released; off: each rank keeps what it "
     "multiplies"},
    {"weight_gradient", ParamType::choice, "auto", 0, 0, "auto|summa|rows",
     "summa: dW as dense SUMMA of the transposed H, as in the paper, on square grids; rows: by sums over grid "
     "rows, whose "
     "bytes do not grow with the graph; auto: summa where the grid is square"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Cagnet2d, "cagnet-2d", "1.1.0",
                "CAGNET 2D: SUMMA on a grid of ranks, features cut by columns (Tripathy et al., SC 2020)",
                gnnbench::parameters)
