#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/position_set.hpp>
#include <gnnbench/setup_cost.hpp>
#include <gnnbench/shared_setup.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

/// Forward multiplies by Â, backward by Âᵀ.
enum class Direction : std::uint8_t { forward, backward };
inline Direction opposite(Direction d) {
    return d == Direction::forward ? Direction::backward : Direction::forward;
}

/// Columns [first, end), by original id.
struct ColumnRange {
    std::int64_t first = 0, end = 0;
};

/// Vertices [first, end), by original id.
struct VertexRun {
    std::int64_t first = 0, end = 0;
    std::int64_t size() const { return end - first; }
};

/// The scales of some columns of Â or Âᵀ.
struct ColumnScales {
    std::int64_t first = 0;
    std::vector<double> values;
    bool empty() const { return values.empty(); }
    double of(std::int64_t column) const { return values[usize(column - first)]; }
};

/// The scales of a few columns, anywhere.
struct FewScales {
    PositionSet columns{0};
    std::vector<double> values;  ///< in the order of the columns
    bool empty() const { return values.empty(); }
    double of(std::int64_t column) const { return values[usize(columns.rank(column))]; }
};

/// Where lines are read from: whole rows, or the tiles (·, c) of some c, ascending.
struct TileChoice {
    std::vector<std::int64_t> across = {};  ///< empty: whole rows
    bool whole_rows() const { return across.empty(); }
};

/// Â: the matrix that a model multiplies by, row by row from the raw graph, and Âᵀ likewise where the graph's
/// transpose is at hand. Holds neither matrix, so every rank can read its rows of a memory-mapped graph of any size: of
/// a graph without weights and self-loops it holds nothing per vertex, else a bit (self-loops) and two sums (weights).
///
/// Â_vj = w_vj · r_v · c_j, with w the weight (a missing diagonal entry counts as weight 1 where the model has
/// self-loops; GIN adds 1 + ε to every diagonal entry, missing or not), and r, c by the normalisation:
///   symmetric  r_v = (Σ_j w_vj)^-½, c_j = (Σ_v w_vj)^-½     mean  r_v = 1 / Σ_j w_vj, c = 1     none  r = c = 1
/// A vertex without weights has scale 0. Other sums of 0 or less have no scale: why_weights_unusable refuses them before a
/// training begins.
class Adjacency {
public:
    /// `graph` must outlive it, and `cost`. `threads`: of this rank, for what walks many rows.
    Adjacency(const GraphView& graph, const ModelSpec& model, int threads = 1, SetupCost* cost = nullptr,
              SharedSetup* shared = nullptr);
    /// Of a rank that asks for the rows and scales of `only` alone: what is computed beforehand is of these vertices, as far
    /// as the graph's arrays allow.
    Adjacency(const GraphView& graph, const ModelSpec& model, VertexRun only, int threads = 1,
              SetupCost* cost = nullptr, SharedSetup* shared = nullptr);

    std::int64_t vertices() const { return graph_.vertices(); }
    std::int64_t nonzeros() const;
    int threads() const { return threads_; }
    /// Receives the cost of cutting blocks; null if set-up cost is not recorded.
    SetupPart* cost() const { return cost_ ? &cost_->cut : nullptr; }
    /// What this process's ranks have in common; nullptr: there is one.
    SharedSetup* shared() const { return shared_; }
    /// Whether the blocks that are prepared by for_each_block and make_halo have the original ids of their rows' and columns'
    /// vertices, by which attention's dropout is drawn.
    bool names_vertices() const { return names_vertices_; }
    /// Known to equal its transpose: backward may use forward's blocks.
    bool symmetric() const { return symmetric_; }
    /// Whether line() can read rows of `d`'s matrix. Those of Â it always can.
    bool reads(Direction d) const { return d == Direction::forward || !columns_.indptr.empty(); }

    /// Whether the columns of `d`'s matrix have scales other than 1.
    bool scales_columns(Direction d) const {
        return d == Direction::forward ? normalisation_ == Normalisation::symmetric
                                       : normalisation_ != Normalisation::none;
    }

    /// A row or column whose weights, not all of them 0, add up to 0 or less, so that its normalisation has no scale.
    struct Unscaled {
        std::int64_t vertex = 0;
        double sum = 0;
        bool column = false;
    };
    /// The first of them, rows before columns. Only signed weights have any.
    std::optional<Unscaled> unscaled() const;
    /// An edge whose weight is not above 0, while the model's layers attend.
    struct Unattended {
        std::int64_t row = 0, column = 0;
        double weight = 0;
    };
    /// The first of them: a sum of exponentials, times such weights, might vanish.
    std::optional<Unattended> unattended() const;
    Normalisation normalisation() const { return normalisation_; }

    /// Calls visit(column: int64, value: double) for each entry of row v, columns ascending.
    template <class Visit>
    void row(std::int64_t v, Visit&& visit) const {
        const double r = row_scale(v);
        entries(Direction::forward, v, {}, nullptr,
                [&](std::int64_t j, double w) { visit(j, w * r * column_scale(j)); });
    }

    /// Whether all of w_vj are 1.
    bool unit_weights() const {
        return graph_.weights.empty() && diagonal_.where_present == 0 &&
               (!diagonal_.everywhere || diagonal_.where_missing == 1);
    }
    /// Calls visit(column: int64, w_vj: double) for each entry of row v, columns ascending: row()'s values are
    /// w_vj · r_v · c_j in this order, with the scales of columns of Âᵀ and Â.
    template <class Visit>
    void weights(std::int64_t v, Visit&& visit) const {
        entries(Direction::forward, v, {}, nullptr, visit);
    }

    /// The tiles that have these columns of `d`'s matrix, in runs that ascend; whole rows where there are no tiles, or all
    /// of them have some.
    TileChoice tiles_of(Direction d, std::span<const ColumnRange> columns) const;
    /// The run of columns that lines read from there can have.
    ColumnRange columns_of(Direction d, const TileChoice& from) const;

    /// Row v of Â or Âᵀ, like row(), or what the tiles have of it. reads(d) must hold.
    template <class Visit>
    void line(Direction d, std::int64_t v, const TileChoice& from, Visit&& visit) const {
        if (d == Direction::forward) {
            const double r = row_scale(v);
            return entries(d, v, from, nullptr,
                           [&](std::int64_t j, double w) { visit(j, w * r * column_scale(j)); });
        }
        const double c = column_scale(v);
        entries(d, v, from, nullptr, [&](std::int64_t i, double w) { visit(i, w * row_scale(i) * c); });
    }

    /// Precomputed scales of these columns, for bulk reads of `d`'s matrix. line() with them is
    /// faster, and the same to the bit.
    ColumnScales scales(Direction d, const ColumnRange& columns) const;
    /// The same of counted columns that may lie anywhere. Of a graph in files, no more than some MiB of its row pointers
    /// are in this process's memory at a time, though all of them may be read.
    FewScales scales(Direction d, PositionSet columns) const;
    template <class Scales, class Visit>
    void line(Direction d, std::int64_t v, const TileChoice& from, const Scales& scales, Visit&& visit) const {
        const ColumnScales* ahead = nullptr;
        if constexpr (std::is_same_v<Scales, ColumnScales>) ahead = &scales;
        if (d == Direction::forward) {
            const double r = row_scale(v);
            return entries(d, v, from, ahead, [&](std::int64_t j, double w) { visit(j, w * r * scales.of(j)); });
        }
        const double c = column_scale(v);
        entries(d, v, from, ahead, [&](std::int64_t i, double w) { visit(i, w * scales.of(i) * c); });
    }

    /// The columns of row v of Â or Âᵀ, without their values: calls visit(column: int64).
    template <class Visit>
    void pattern(Direction d, std::int64_t v, const TileChoice& from, Visit&& visit) const {
        entries(d, v, from, nullptr, [&](std::int64_t j, double) { visit(j); });
    }

    /// At least the entries of row v of Â or Âᵀ, or of what the tiles have of it, and at most one more.
    std::int64_t entries_of(Direction d, std::int64_t v, const TileChoice& from) const;

private:
    /// What is added to the weight of diagonal entries; `everywhere`: each vertex has one.
    struct Diagonal {
        bool everywhere;
        double where_missing, where_present;
    };
    static Diagonal diagonal_of(const ModelSpec& model);

    CompressedRows rows_of(Direction d) const { return d == Direction::forward ? graph_.rows() : columns_; }
    const TiledRows& tiled_rows(Direction d) const {
        return d == Direction::forward ? graph_.tiles : graph_.column_tiles();
    }

    /// Row v of the weights with the model's diagonal. `scales`: what the visits read at random, by column, fetched
    /// ahead; nullptr: nothing.
    template <class Visit>
    void entries(Direction d, std::int64_t v, const TileChoice& from, const ColumnScales* scales,
                 Visit&& visit) const {
        bool diagonal = !diagonal_.everywhere;  // whether row v's own column is done with
        if (from.whole_rows()) {
            const CompressedRows rows = rows_of(d);
            run(rows.indices, rows.weights, rows.indptr[usize(v)], rows.indptr[usize(v) + 1], v, scales, diagonal,
                visit);
        } else {
            const TiledRows& tiles = tiled_rows(d);
            if (!diagonal) diagonal = !std::ranges::binary_search(from.across, v / tiles.tile_columns);
            for (const std::int64_t c : from.across) {
                const auto [begin, end] = tiles.row(v, c);
                run(tiles.indices, tiles.weights, begin, end, v, scales, diagonal, visit);
            }
        }
        if (!diagonal) visit(v, diagonal_.where_missing);
    }

    template <class Visit>
    void run(std::span<const std::int32_t> indices, std::span<const float> weights, std::int64_t begin,
             std::int64_t end, std::int64_t v, const ColumnScales* scales, bool& diagonal, Visit&& visit) const {
        constexpr std::int64_t ahead = 24;
        const std::int64_t all = std::ssize(indices);
        for (std::int64_t e = begin; e < end; ++e) {
            const std::int64_t j = indices[usize(e)];
            if (scales && e + ahead < all)
                __builtin_prefetch(scales->values.data() + (indices[usize(e + ahead)] - scales->first));
            if (!diagonal && j >= v) {
                if (j > v) visit(v, diagonal_.where_missing);
                diagonal = true;
            }
            double w = weights.empty() ? 1.0 : double{weights[usize(e)]};
            if (j == v) w += diagonal_.where_present;
            visit(j, w);
        }
    }

    bool has_loop(std::int64_t v) const { return !loops_.empty() && loops_[usize(v)]; }
    /// Σ of row or column v: of the weights, or how many there are, and the diagonal's share.
    double sum(std::span<const double> weights, std::span<const std::int64_t> indptr, std::int64_t v) const {
        const auto at = usize(v);
        const double stored = weights.empty() ? static_cast<double>(indptr[at + 1] - indptr[at]) : weights[at];
        if (has_loop(v)) return stored + diagonal_.where_present;
        return diagonal_.everywhere ? stored + diagonal_.where_missing : stored;
    }
    std::span<const double> row_sums() const {
        return graph_.row_sums.empty() ? std::span<const double>(row_sum_) : graph_.row_sums;
    }
    std::span<const double> column_sums() const {
        return graph_.column_sums.empty() ? std::span<const double>(column_sum_) : graph_.column_sums;
    }
    /// The first vertex whose sum is below 0, or is 0 though it weighs: has an entry that is not 0. −1: none.
    std::int64_t first_unscaled(std::span<const double> sums,
                                const std::function<bool(std::int64_t)>& weighs) const;
    /// The scale of column v of Â or Âᵀ.
    double scale(Direction d, std::int64_t v) const {
        return d == Direction::forward ? column_scale(v) : row_scale(v);
    }
    double row_scale(std::int64_t v) const {
        if (normalisation_ == Normalisation::none) return 1;
        const double s = sum(row_sums(), graph_.indptr, v);
        if (!(s > 0)) return 0;
        return normalisation_ == Normalisation::mean ? 1 / s : 1 / std::sqrt(s);
    }
    double column_scale(std::int64_t j) const {
        if (normalisation_ != Normalisation::symmetric) return 1;
        const double s =
            column_sum_of_rows_ ? sum(row_sums(), graph_.indptr, j) : sum(column_sums(), columns_.indptr, j);
        return s > 0 ? 1 / std::sqrt(s) : 0;
    }

    GraphView graph_;
    CompressedRows columns_;  ///< the transpose's rows; empty where it is not at hand
    Diagonal diagonal_;
    Normalisation normalisation_;
    bool symmetric_, column_sum_of_rows_, attends_, names_vertices_;
    int threads_;
    SetupCost* cost_;
    SharedSetup* shared_;
    std::vector<bool> loops_;                   ///< which vertices have a self-loop; empty: none has
    std::vector<double> row_sum_, column_sum_;  ///< of stored weights, where the graph does not bring them
};

/// Why a matrix cannot be normalised, or attended over, as its model says; empty if it can. `ids`: of its vertices in the
/// dataset, where it is a subgraph's.
std::string why_weights_unusable(const Adjacency& a, std::span<const GlobalId> ids = {});

/// aᵀ; columns of each row ascending.
Csr transposed(const Csr& a, int threads = 1);

/// Row p of blocks of Â or Âᵀ under an index map: block j [size(p) × size(j)] has local rows and columns.
std::vector<Csr> block_row(const Adjacency& a, const IndexMap& index, Part p, Direction d);

/// Column p of blocks: block i [size(i) × size(p)].
std::vector<Csr> block_column(const Adjacency& a, const IndexMap& index, Part p, Direction d);
/// `row`: blocks producing this rank's output rows; `column`: blocks consuming its input rows.
enum class BlockLine : std::uint8_t { row, column };

/// The products that a set of blocks serves: those of either direction; or forward's and those of the same blocks'
/// transposes, by Backend::spmm_transposed, or as blocks of the backward direction.
enum class ProductDirections : std::uint8_t { both, forward_and_its_transposes, forward_and_transposed_blocks };

/// The columns of blocks that a rank multiplies: all of them (1D), or its stages only (1.5D).
using HoldsBlock = std::function<bool(Part column)>;
/// All columns of blocks: J = {0 … parts−1}.
inline bool every_block(Part) { return true; }

/// A row or a column of blocks prepared by a back end, for both directions; a symmetric Â is prepared once and
/// serves both.
class PreparedBlocks {
public:
    PreparedBlocks(const Adjacency& a, const IndexMap& index, Part p, Backend& backend,
                   const HoldsBlock& holds = every_block, BlockLine line = BlockLine::row,
                   ProductDirections directions = ProductDirections::both);
    /// Block j of the line; this rank must hold it.
    const PreparedMatrix& block(Direction d, Part j) const {
        const auto& blocks = d == Direction::backward && !backward_.empty() ? backward_ : forward_;
        return *blocks[usize(j)];
    }
    /// The formats the back end chose, for the record.
    std::string formats() const;

private:
    std::vector<std::unique_ptr<PreparedMatrix>> forward_, backward_;
};

}  // namespace gnnbench
