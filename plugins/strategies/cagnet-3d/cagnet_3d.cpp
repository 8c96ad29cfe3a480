// CAGNET, the 3D algorithm: split-3D products, 2D SUMMA in each of q layers of a cube and a sum over the fibres.
// A. Tripathy, K. Yelick, A. Buluç, "Reducing Communication in Graph Neural Network Training", SC 2020, the
// section "Block 3D". Equation numbers are README.md's; the paper's Aᵀ is Â here, rows being destinations.
//
//   q × q × q            the cube; rank (x, y, z): grid row x and column y of layer z; a fibre is all z of one (x,
//   y) H_xyz [n_xz × f_y]   block of H: part z of grid row x's vertices, block y of f's columns; so too T, Z, G, U
//   Â_xkz [n_x × n_kz]   block of Â in layer z: all vertices of grid row x, the vertices (k, z) as columns
//   W     [f × g]        on every rank; W_ky: rows of block k, columns of block y
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gnnbench/training/grid_trainer.hpp>
#include <gnnbench/training/host_statement.hpp>

namespace gnnbench {
namespace {

/// How the layers' shares of a product are summed over a fibre.
enum class FibreSum : std::uint8_t { reduce_scatter, all_reduce };

FibreSum fibre_sum(const Params& params) {
    return params.choice("fibre") == "all_reduce" ? FibreSum::all_reduce : FibreSum::reduce_scatter;
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
    }

    /// Columns of the buffers for T_xy, before the sum over the fibre.
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
        broadcasts_.transform(t, w, z, e);
    }

    // dW_y: ← Σ_xz H_xyzᵀ U_x:z and dH_xyz ← Σ_k U_xkz W_ykᵀ in one sweep                     [Eq 5]
    void backward(MatrixView h, MatrixView u, MatrixView w, MatrixView dw, std::optional<MatrixView> dh) override {
        backward_by_rows(rank_, broadcasts_, h, u, w, dw, dh);
    }
    std::string notes() const override { return blocks_->notes(); }

private:
    // T_xyz ← Σ over layers of T_xy, rows of part z                                       [Eq 2]
    void sum_over_fibre(MatrixView t_xy, MatrixView t) {
        Communicator& fibre = rank_.grid.along(Axis::z);
        if (fibre_ == FibreSum::reduce_scatter) return fibre.reduce_scatter_now(t_xy, t, fibre_rows_);
        fibre.all_reduce_now(t_xy);
        rank_.backend.copy(t_xy.rows_from(first_row_, t.rows), t);
    }

    GridRank rank_;
    const GridLayout& at_;
    std::unique_ptr<PanelBlocks> blocks_;
    GridBroadcasts broadcasts_;
    const FibreSum fibre_;
    std::vector<std::int64_t> fibre_rows_;  ///< n_xz by z
    std::int64_t first_row_ = 0;            ///< where this rank's n_xz begin among the fibre's n_x
    LayerwiseBuffers partial_;              ///< [n_x × widest f_y], of each layer or of all
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
        const GridShape shape = cube(p.ranks);
        const GridLayout at{p.index, shape, shape.place(rank)};
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
            [&](VolumeStatement& v, int, std::int64_t f, std::int64_t g) { state_backward_by_rows(v, at, f, g); });
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        const GridShape shape = cube(p.ranks);
        const GridLayout at{p.index, shape, shape.place(rank)};
        const Buffers buffers = grid_buffers(p.params);
        return grid_memory(p, at, element_bytes, buffers, [&](MemoryStatement& m) {
            TravelStatement(p.params.boolean("travel"), p, at).state_memory(m);
            GridBroadcasts::state_memory(m, at, p.model, buffers);
            if (at.extent(Axis::z) > 1)
                LayerwiseBuffers::state_memory(m, at.line_rows(), Split3d::partial_columns(at, p.model, buffers));
        });
    }

    void state_host_memory(HostStatement& m, const Problem& p, int rank) const override {
        const GridShape shape = cube(p.ranks);
        state_grid_host_memory(m, p, {p.index, shape, shape.place(rank)}, p.params.boolean("travel"));
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return make_grid_trainer(
            p, rank, cube(p.ranks), grid_buffers(p.params),
            [&](const Adjacency& a, GridRank at) { return std::make_unique<Split3d>(a, at, p.params, p.model); });
    }

private:
    static int side(int ranks) { return static_cast<int>(std::lround(std::cbrt(ranks))); }
    static GridShape cube(int ranks) { return {{side(ranks), side(ranks), side(ranks)}}; }
};

constexpr ParamDecl parameters[] = {
    {"buffers", ParamType::choice, "separate", 0, 0, "separate|shared",
     "separate: each layer has its own for activations, their gradients, products and received blocks, as "
     "CAGNET's "
     "released code; shared: one for each layer's activations and gradients, the others once for all layers"},
    {"travel", ParamType::boolean, "false", 0, 0, nullptr,
     "blocks of A have one owner and are broadcast at each product, as released; off: each rank keeps what it "
     "multiplies"},
    {"fibre", ParamType::choice, "reduce_scatter", 0, 0, "reduce_scatter|all_reduce",
     "how the layers' products are summed over a fibre: each rank receives its own rows, as in the paper; or all "
     "ranks receive all rows and keep their own, twice the bytes, as released"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Cagnet3d, "cagnet-3d", "1.2.0",
                "CAGNET 3D: split-3D products on a cube of ranks (Tripathy et al., SC 2020)", gnnbench::parameters)
