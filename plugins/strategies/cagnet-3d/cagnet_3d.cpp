// CAGNET, the 3D algorithm: split-3D products, 2D SUMMA in each of q layers of a cube and a sum over the fibres.
// A. Tripathy, K. Yelick, A. Buluç, "Reducing Communication in Graph Neural Network Training", SC 2020, the
// section "Block 3D". Equation numbers are README.md's; the paper's Aᵀ is Â here, rows being destinations.
//
//   q × q × q            the cube; rank (x, y, z): grid row x and column y of layer z; a fibre is all z of one (x,
//   y) H_xyz [n_xz × f_y]   block of H: part z of grid row x's vertices, block y of f's columns; so too T, Z, G, U
//   Â_xkz [n_x × n_kz]   block of Â in layer z: all vertices of grid row x, the vertices (k, z) as columns
//   W     [f × g]        on every rank; W_ky: rows of block k, columns of block y
// With `fibre: released`, T and U are cut by columns:
//   T_x(yz) [n_x × f_yz] all rows of grid row x, block z of the q even blocks of column block y
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/training/grid_trainer.hpp>
#include <gnnbench/training/host_statement.hpp>

#include "split_weight_gradient.hpp"

namespace gnnbench {
namespace {

/// How the layers' shares of a product are summed over a fibre.
enum class FibreSum : std::uint8_t { reduce_scatter, all_reduce };

FibreSum fibre_sum(const Params& params) {
    return params.choice("fibre") == "reduce_scatter" ? FibreSum::reduce_scatter : FibreSum::all_reduce;
}

int side(int ranks) { return static_cast<int>(std::lround(std::cbrt(ranks))); }
GridShape cube(int ranks) { return {{side(ranks), side(ranks), side(ranks)}}; }

/// One rank has nothing to cut.
ProductCut product_cut(const Params& params, int ranks) {
    return params.choice("fibre") == "released" && ranks > 1 ? ProductCut::columns : ProductCut::rows;
}

GridLayout layout_of(const Problem& p, int rank) {
    const GridShape shape = cube(p.ranks);
    return {p.index, shape, shape.place(rank), product_cut(p.params, p.ranks)};
}

class Split3d final : public GridProducts {
public:
    Split3d(const Adjacency& a, GridRank rank, const Params& params, const ModelSpec& model)
        : rank_(rank),
          at_(rank.layout),
          blocks_(make_panel_blocks(params.boolean("travel"), a, rank)),
          broadcasts_(rank, model, grid_buffers(params)),
          fibre_(fibre_sum(params)) {
        for (int z = 0; z < at_.extent(Axis::z); ++z)
            fibre_rows_.push_back(at_.row_parts(at_.at(Axis::x), z).size(at_.index));
        first_row_ = std::accumulate(fibre_rows_.begin(), fibre_rows_.begin() + at_.at(Axis::z), std::int64_t{0});
        if (at_.extent(Axis::z) > 1)
            partial_ = {rank.backend, at_.line_rows(), partial_columns(at_, model, grid_buffers(params))};
        if (by_columns()) weight_gradient_ = {rank, model};
    }

    /// Columns of the buffers for T_xy, before the sum over the fibre, and for stages of TW and UWᵀ.
    static std::vector<std::int64_t> partial_columns(const GridLayout& at, const ModelSpec& model,
                                                     Buffers buffers) {
        return layer_columns(model, buffers, [&](std::int64_t width) { return at.columns(width); });
    }

    void begin_layer(int l) override {
        broadcasts_.begin_layer(l);
        partial_.begin_layer(l);
    }

    // Split-3D sparse times dense                                                     [Alg 1]
    void aggregate(Direction d, MatrixView h, MatrixView t) override {
        const bool split = at_.extent(Axis::z) > 1;
        // This layer's share of T_xy, for the vertices of the whole fibre: [n_x × f_y]
        const MatrixView t_xy = split ? partial_.view(at_.line_rows(), h.cols) : t;
        bool started = false;
        broadcasts_.for_each_panel(h, [&](int k, MatrixView h_kyz) {
            // T_xy ← T_xy + Â_xkz H_kyz                                  [Eq 1]; with Âᵀ: U = ÂᵀG   [Eq 4]
            started |= blocks_->multiply(d, k, h_kyz, t_xy, started);
        });
        if (!started) rank_.backend.fill(t_xy, 0);
        if (split) sum_over_fibre(t_xy, t);
    }

    // Z_xyz ← σ(Σ_k T_xkz W_ky + b_y), T's blocks broadcast along the grid row              [Eq 3]
    void transform(MatrixView t, MatrixView w, MatrixView z, const Epilogue& e) override {
        if (!by_columns()) return broadcasts_.transform(t, w, z, e);
        // Z_xyz ← σ(rows of part z of Σ_k Σ_z T_x(kz) W_(kz)y + b_y)                         [Eq 6]
        const MatrixView w_y = w.cols_from(at_.first_column(w.cols), z.cols);
        sum_stages(t, w.rows, z.cols, z, [&](std::int64_t first, MatrixView t_k, MatrixView stage) {
            rank_.backend.gemm(Transpose::no, t_k, Transpose::no, w_y.rows_from(first, t_k.cols), stage);
        });
        rank_.backend.apply(e, z);
    }

    void backward(MatrixView h, MatrixView u, MatrixView w, MatrixView dw, std::optional<MatrixView> dh) override {
        // dW_y: ← Σ_xz H_xyzᵀ U_x:z and dH_xyz ← Σ_k U_xkz W_ykᵀ in one sweep                 [Eq 5]
        if (!by_columns()) return backward_by_rows(rank_, broadcasts_, h, u, w, dw, dh);
        // dH_xyz ← rows of part z of Σ_k Σ_z U_x(kz) (W_y(kz))ᵀ, also where nothing needs it   [Eq 7]
        const MatrixView w_y = w.rows_from(at_.first_column(w.rows), h.cols);
        sum_stages(u, w.cols, h.cols, dh, [&](std::int64_t first, MatrixView u_k, MatrixView stage) {
            rank_.backend.gemm(Transpose::no, u_k, Transpose::yes, w_y.cols_from(first, u_k.cols), stage);
        });
        weight_gradient_.compute(rank_, broadcasts_, h, u, partial_.view(u.rows, at_.columns(w.cols)), dw);
    }
    std::string notes() const override { return blocks_->notes(); }

    /// The sums over the fibre of [Eq 6] and [Eq 7]: B, `width` columns wide, times a matrix of `columns` here.
    static void state_stages(VolumeStatement& v, const GridLayout& at, std::int64_t width, std::int64_t columns) {
        GridBroadcasts::state_column_blocks(v, at, width);
        for (std::int64_t k = 0; k < std::min<std::int64_t>(at.extent(Axis::y), width); ++k)
            v.all_reduce(at.line_rows() * columns, at.extent(Axis::z), at.at(Axis::z));
    }

private:
    bool by_columns() const { return at_.product_cut == ProductCut::columns; }

    /// Own rows of Σ_k Σ_z B_x(kz) V_kz, into `sum` if that is wanted: each stage k is all-reduced over the fibre, as
    /// released. b: own block of B [n × width], cut by columns. multiply(first, b_k, stage): stage [n_x × columns] ← b_k
    /// times the rows of V that fit B's columns from `first`.
    void sum_stages(MatrixView b, std::int64_t width, std::int64_t columns, std::optional<MatrixView> sum,
                    const std::function<void(std::int64_t first, MatrixView b_k, MatrixView stage)>& multiply) {
        const MatrixView stage = partial_.view(at_.line_rows(), columns);
        broadcasts_.for_each_column_block(b, width, [&](int k, MatrixView b_k) {
            multiply(at_.product_first_column(width, k), b_k, stage);
            rank_.grid.along(Axis::z).all_reduce_now(stage);
            if (!sum) return;
            const MatrixView mine = stage.rows_from(first_row_, sum->rows);
            k == 0 ? rank_.backend.copy(mine, *sum) : rank_.backend.axpby(1, mine, 1, *sum);
        });
    }

    // T_xyz ← Σ over layers of T_xy, rows of part z; or block z of its columns            [Eq 2]
    void sum_over_fibre(MatrixView t_xy, MatrixView t) {
        Communicator& fibre = rank_.grid.along(Axis::z);
        if (fibre_ == FibreSum::reduce_scatter) return fibre.reduce_scatter_now(t_xy, t, fibre_rows_);
        fibre.all_reduce_now(t_xy);
        const MatrixView mine =
            by_columns() ? t_xy.cols_from(block_begin(t_xy.cols, at_.extent(Axis::z), at_.at(Axis::z)), t.cols)
                         : t_xy.rows_from(first_row_, t.rows);
        rank_.backend.copy(mine, t);
    }

    GridRank rank_;
    const GridLayout& at_;
    std::unique_ptr<PanelBlocks> blocks_;
    GridBroadcasts broadcasts_;
    const FibreSum fibre_;
    std::vector<std::int64_t> fibre_rows_;  ///< n_xz by z
    std::int64_t first_row_ = 0;            ///< where this rank's n_xz begin among the fibre's n_x
    LayerwiseBuffers partial_;              ///< [n_x × widest f_y], of each layer or of all
    SplitWeightGradient weight_gradient_;   ///< where T and U are cut by columns
};

class Cagnet3d final : public Strategy, public StatesHostMemory {
public:
    std::string why_unsupported(const Setting& s) const override {
        if (const int q = side(s.ranks); q * q * q != s.ranks)
            return fmt::format("needs a cubic number of ranks (1, 8, 27 …); {} given", s.ranks);
        return grid_why_unsupported(s);
    }

    /// One part for each grid row and layer: part x·q + z.
    PartitionNeed partition_need(const Setting& s) const override {
        return {.parts = side(s.ranks) * side(s.ranks)};
    }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        const GridLayout at = layout_of(p, rank);
        const TravelStatement travel(p.params.boolean("travel"), p, at);
        const FibreSum fibre = fibre_sum(p.params);
        return grid_volume(
            p, at, element_bytes,
            [&](VolumeStatement& v, Direction d, std::int64_t width) {
                GridBroadcasts::state_panels(v, at, width);
                travel.state(v, d);
                const std::int64_t columns = at.columns(width), shared = at.line_rows() * columns;
                if (fibre == FibreSum::all_reduce)
                    v.all_reduce(shared, at.extent(Axis::z), at.at(Axis::z));
                else
                    v.reduce_scatter(shared, at.rows() * columns, at.extent(Axis::z));
            },
            [&](VolumeStatement& v, std::int64_t f, std::int64_t g) {
                if (at.product_cut == ProductCut::rows) return GridBroadcasts::state_column_blocks(v, at, f);
                Split3d::state_stages(v, at, f, at.columns(g));
            },
            [&](VolumeStatement& v, int, std::int64_t f, std::int64_t g) {
                if (at.product_cut == ProductCut::rows) return state_backward_by_rows(v, at, f, g);
                Split3d::state_stages(v, at, g, at.columns(f));
                SplitWeightGradient::state_volume(v, at, f, g);
            });
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const GridLayout at = layout_of(p, rank);
        const Buffers buffers = grid_buffers(p.params);
        return grid_memory(p, at, element_bytes, buffers, [&](MemoryStatement& m) {
            TravelStatement(p.params.boolean("travel"), p, at).state_memory(m);
            GridBroadcasts::state_memory(m, at, p.model, buffers);
            if (at.extent(Axis::z) > 1)
                LayerwiseBuffers::state_memory(m, at.line_rows(), Split3d::partial_columns(at, p.model, buffers));
            if (at.product_cut == ProductCut::columns) SplitWeightGradient::state_memory(m, at, p.model);
        });
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        state_grid_host_memory(m, p, layout_of(p, rank), p.params.boolean("travel"));
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return make_grid_trainer(
            p, rank, cube(p.ranks), product_cut(p.params, p.ranks), grid_buffers(p.params),
            [&](const Adjacency& a, GridRank at) { return std::make_unique<Split3d>(a, at, p.params, p.model); });
    }
};

constexpr ParamDecl parameters[] = {
    {"buffers", ParamType::choice, "separate", 0, 0, "separate|shared",
     "separate: each layer has its own for activations, their gradients, products and received blocks, as "
     "CAGNET's "
     "released code; shared: one for each layer's activations and gradients, the others once for all layers"},
    {"travel", ParamType::boolean, "false", 0, 0, nullptr,
     "blocks of A have one owner and are broadcast at each product, as released; off: each rank keeps what it "
     "multiplies"},
    {"fibre", ParamType::choice, "reduce_scatter", 0, 0, "reduce_scatter|all_reduce|released",
     "how the layers' products are summed over a fibre. reduce_scatter: each rank receives its own rows, as in "
     "the "
     "paper; all_reduce: all ranks receive all rows and keep their own, twice the bytes; released: they keep "
     "columns, "
     "so that TW and UWᵀ are summed over the fibre too and dW is a split-3D product, as in the released code"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Cagnet3d, "cagnet-3d", "1.3.0",
                "CAGNET 3D: split-3D products on a cube of ranks (Tripathy et al., SC 2020)", gnnbench::parameters)
