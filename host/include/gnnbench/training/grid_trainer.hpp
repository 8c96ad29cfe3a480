#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/parameters.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/row_parallel.hpp>
#include <gnnbench/training/sparse_blocks.hpp>
#include <gnnbench/training/stated_memory.hpp>
#include <gnnbench/training/stated_volume.hpp>

/// Shared by the strategies that cut dense matrices by rows and columns: CAGNET 2D and 3D. They differ in how they
/// multiply on their grid (GridProducts); layers, loss, bias, optimizer and the blocks themselves are common.

namespace gnnbench {

/// How T = ÂH and U = ÂᵀG are cut over the Z ranks of a fibre: by rows, as all other matrices, or by columns.
enum class ProductCut : std::uint8_t { rows, columns };

/// The block of every dense matrix [n × f] that a rank holds on an X × Y × Z grid:
///   rows      the vertices of s = parts / (X·Z) consecutive parts, starting at part (x·Z + z)·s
///   columns   block y of f's Y even blocks
/// so that grid row x holds one contiguous run of positions over all z, and grid column y the same columns everywhere.
/// Panels are the blocks of columns of A that a rank multiplies by: the parts of its z, in order.
/// T and U may be cut by columns instead: all rows of grid row x, and block z of the Z even blocks of column block y.
struct GridLayout {
    const IndexMap& index;
    GridShape shape;
    GridPlace place;
    ProductCut product_cut = ProductCut::rows;

    int extent(Axis a) const { return shape.extent(a); }
    int at(Axis a) const { return place[a]; }
    Part parts_per_block() const { return index.parts() / (extent(Axis::x) * extent(Axis::z)); }
    /// This rank's parts of the rows.
    PartRange row_parts() const { return row_parts(at(Axis::x), at(Axis::z)); }
    PartRange row_parts(int x, int z) const {
        return {(x * extent(Axis::z) + z) * parts_per_block(), parts_per_block()};
    }
    /// The parts of all ranks in this one's grid row.
    PartRange line_parts() const {
        return {at(Axis::x) * extent(Axis::z) * parts_per_block(), extent(Axis::z) * parts_per_block()};
    }
    std::int64_t rows() const { return row_parts().size(index); }
    std::int64_t line_rows() const { return line_parts().size(index); }
    std::int64_t first_column(std::int64_t width) const {
        return block_begin(width, extent(Axis::y), at(Axis::y));
    }
    std::int64_t columns(std::int64_t width) const { return block_size(width, extent(Axis::y), at(Axis::y)); }
    /// Of T or U [n × width], rank (x, k, z) holds product_columns(width, k) columns from product_first_column(width, k),
    /// in product_rows() rows; x and z are this rank's.
    std::int64_t product_rows() const { return product_cut == ProductCut::rows ? rows() : line_rows(); }
    std::int64_t product_first_column(std::int64_t width, int k) const;
    std::int64_t product_columns(std::int64_t width, int k) const;
    std::int64_t product_columns(std::int64_t width) const { return product_columns(width, at(Axis::y)); }
    /// {parts of row blocks (x, z) over all x}, z this rank's.
    std::vector<Part> panels() const;
    /// The grid row whose rows panel k is.
    int panel_owner(int k) const { return k / parts_per_block(); }
    /// Original ids of this rank's rows, in local order.
    std::vector<GlobalId> owned() const;
    std::int64_t largest_panel() const;
};

/// A rank on its grid.
struct GridRank {
    Backend& backend;
    ProcessGrid& grid;
    const GridLayout& layout;
};

/// Columns of a buffer that a layer f → g fills with matrices up to max(f, g) wide: of each layer's where buffers are
/// separate, else of the one that all layers share. columns(width): how many a matrix of that width has here.
std::vector<std::int64_t> layer_columns(const ModelSpec& model, Buffers buffers,
                                        const std::function<std::int64_t(std::int64_t width)>& columns);

/// The two broadcasts of SUMMA, with their receive buffers.
class GridBroadcasts {
public:
    GridBroadcasts(GridRank rank, const ModelSpec& model, Buffers buffers);

    /// Selects the layer whose buffers the following broadcasts use.
    void begin_layer(int l) {
        panel_.begin_layer(l);
        column_block_.begin_layer(l);
    }

    /// For each panel k in order: B_k [size(panel k) × columns], broadcast along this rank's grid column from the
    /// row that holds it. b: this rank's own block. visit(k, B_k) must not use it after it returns.
    void for_each_panel(MatrixView b, const std::function<void(int k, MatrixView b_k)>& visit);
    /// For each non-empty column block k in order: T_k [product_rows × product_columns(width, k)], broadcast along this
    /// rank's grid row. t: this rank's own block. Cut by columns, T_k may be empty.
    void for_each_column_block(MatrixView t, std::int64_t width,
                               const std::function<void(int k, MatrixView t_k)>& visit);

    /// Σ_k T_k · W[rows of block k, this rank's columns], then the epilogue: z ← epilogue(T W).
    /// t: own block of T [n × f], cut by rows; w [f × g].
    void transform(MatrixView t, MatrixView w, MatrixView z, const Epilogue& epilogue);

    static void state_panels(VolumeStatement& v, const GridLayout& layout, std::int64_t width);
    static void state_column_blocks(VolumeStatement& v, const GridLayout& layout, std::int64_t width);
    static void state_memory(MemoryStatement& m, const GridLayout& layout, const ModelSpec& model,
                             Buffers buffers);

private:
    GridRank rank_;
    std::vector<Part> panels_;
    LayerwiseBuffers panel_, column_block_;
};

/// How a rank's blocks are multiplied. Matrices are this rank's blocks, contiguous; all calls are collective and
/// leave nothing in flight.
class GridProducts {
public:
    virtual ~GridProducts();
    /// Called before the products of layer l.
    virtual void begin_layer(int l) = 0;
    /// c ← Â b or Âᵀ b; c: block of T or U.
    virtual void aggregate(Direction d, MatrixView b, MatrixView c) = 0;
    /// z ← epilogue(T W); t: block of T [n × f], w [f × g] whole, z: block of Z [n × g].
    virtual void transform(MatrixView t, MatrixView w, MatrixView z, const Epilogue& epilogue) = 0;
    /// dW ← Hᵀ U, whole on every rank, and dH ← U Wᵀ if asked for, which is the same on all ranks: a rank whose block
    /// of dH is empty takes part. h: block of H [n × f], u: of U [n × g].
    virtual void backward(MatrixView h, MatrixView u, MatrixView w, MatrixView dw,
                          std::optional<MatrixView> dh) = 0;
    virtual std::string notes() const = 0;
};

/// dW ← Hᵀ U by sums over grid rows, and dH ← U Wᵀ in the same pass: each grid row broadcasts its U within it, block by
/// block, so every rank sums rows block y of dW over its own vertices; those are all-reduced over the ranks with
/// the same y and gathered along the grid row.
void backward_by_rows(GridRank rank, GridBroadcasts& broadcasts, MatrixView h, MatrixView u, MatrixView w,
                      MatrixView dw, std::optional<MatrixView> dh);
void state_backward_by_rows(VolumeStatement& v, const GridLayout& layout, std::int64_t f, std::int64_t g);

/// The block of a matrix that one rank of a grid holds.
struct Tile {
    std::int64_t first_row = 0, rows = 0, first_column = 0, columns = 0;
};
/// Every rank gets every tile of `whole`, in which its own is in place. Tiles cover it once. buffer: as many elements.
void gather_tiles(GridRank rank, MatrixView whole, MatrixView buffer,
                  const std::function<Tile(const GridPlace&)>& tile_of);

using MakeGridProducts = std::function<std::unique_ptr<GridProducts>(const Adjacency&, GridRank)>;

/// The parameter `buffers` of a grid strategy.
Buffers grid_buffers(const Params& params);

/// Per layer T = ÂH, Z = TW; backward U = ÂᵀG, dW = HᵀU, dH = UWᵀ. Buffers, where separate: one block per layer for
/// its output (Z, H), one for the output's gradient (dH from above, then dZ), one for T and U. Where shared: one per
/// layer for its output (in place: Z, H, dZ, dH below), one for T and U that all layers share. With input dropout,
/// one for the dropped X, and what the products need. W, its gradient and the optimizer's state are whole on every
/// rank.
std::unique_ptr<CollectiveTrainer> make_grid_trainer(const Problem& problem, Rank rank, GridShape shape,
                                                     ProductCut cut, Buffers buffers,
                                                     const MakeGridProducts& make_products);

/// The stated volume of one operation: Â (forward) or Âᵀ (backward) times a dense matrix of this width.
using StateAggregate = std::function<void(VolumeStatement&, Direction, std::int64_t width)>;
/// Of TW in a layer f → g.
using StateTransform = std::function<void(VolumeStatement&, std::int64_t f, std::int64_t g)>;
/// dW and dH of a layer f → g; layer 0 needs no dH.
using StateBackward = std::function<void(VolumeStatement&, int layer, std::int64_t f, std::int64_t g)>;

/// One epoch of one rank: the strategy's products, and what the trainer adds: bias gradients (all-reduce of this rank's
/// columns over the ranks that share them, all-gather along the grid row), loss.
Volume grid_volume(const Problem& problem, const GridLayout& layout, std::int64_t element_bytes,
                   const StateAggregate& aggregate, const StateTransform& transform,
                   const StateBackward& backward);

/// The bytes that one rank holds, as stated_memory defines them; `products` states those of its GridProducts.
std::int64_t grid_memory(const Problem& problem, const GridLayout& layout, std::int64_t element_bytes,
                         Buffers buffers, const std::function<void(MemoryStatement&)>& products);

/// The travelling volume of each direction's blocks, and their memory, or nothing where blocks are kept.
class TravelStatement {
public:
    TravelStatement(bool travel, const Problem& problem, const GridLayout& layout);
    void state(VolumeStatement& v, Direction d) const;
    void state_memory(MemoryStatement& m) const;

private:
    bool travel_, symmetric_ = false;
    std::int64_t rows_;
    int ranks_, rank_;
    std::vector<std::int64_t> forward_, backward_;  ///< nonzeros by panel
};

/// A's blocks for this rank, kept or travelling along its grid row.
std::unique_ptr<PanelBlocks> make_panel_blocks(bool travel, const Adjacency& a, GridRank rank);

/// What a rank of a grid reads and cuts.
void state_grid_host_memory(HostStatement& m, const Problem& problem, const GridLayout& layout, bool travel);

/// Why no grid strategy supports a setting; empty if one does.
std::string grid_why_unsupported(const Setting& setting);

}  // namespace gnnbench
