#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench {

/// Â: the matrix that a model multiplies by, row by row from the raw graph. Holds two scales per vertex,
/// never the matrix itself, so that every rank can traverse the whole memory-mapped graph.
///
/// Â_vj = w_vj · r_v · c_j, with w the weight (a missing diagonal entry counts as weight 1 where the model has
/// self-loops; GIN adds 1 + ε to every diagonal entry, missing or not), and r, c by the normalisation:
///   symmetric  r_v = (Σ_j w_vj)^-½, c_j = (Σ_v w_vj)^-½     mean  r_v = 1 / Σ_j w_vj, c = 1     none  r = c = 1
/// A sum that is zero or negative gives scale 0.
class Adjacency {
public:
    /// `graph` must outlive it.
    Adjacency(const GraphView& graph, const ModelSpec& model);

    std::int64_t vertices() const { return graph_.vertices(); }
    std::int64_t nonzeros() const { return nonzeros_; }
    /// Known to equal its transpose: backward may use forward's blocks.
    bool symmetric() const { return symmetric_; }

    /// Calls visit(column: int64, value: double) for each entry of row v, columns ascending.
    template <class Visit>
    void row(std::int64_t v, Visit&& visit) const {
        const auto first = graph_.indptr[static_cast<std::size_t>(v)];
        const auto last = graph_.indptr[static_cast<std::size_t>(v) + 1];
        bool diagonal = !diagonal_.everywhere;
        const double r = row_scale(v);
        for (std::int64_t e = first; e < last; ++e) {
            const std::int64_t j = graph_.indices[static_cast<std::size_t>(e)];
            if (!diagonal && j >= v) {
                if (j > v) visit(v, diagonal_.where_missing * r * column_scale(v));
                diagonal = true;
            }
            double w = graph_.weights.empty() ? 1.0 : double{graph_.weights[static_cast<std::size_t>(e)]};
            if (j == v) w += diagonal_.where_present;
            visit(j, w * r * column_scale(j));
        }
        if (!diagonal) visit(v, diagonal_.where_missing * r * column_scale(v));
    }

private:
    double row_scale(std::int64_t v) const {
        return row_scale_.empty() ? 1.0 : row_scale_[static_cast<std::size_t>(v)];
    }
    double column_scale(std::int64_t j) const {
        return column_scale_.empty() ? 1.0 : column_scale_[static_cast<std::size_t>(j)];
    }

    /// What is added to the weight of diagonal entries; `everywhere`: each vertex has one.
    struct Diagonal {
        bool everywhere;
        double where_missing, where_present;
    };
    static Diagonal diagonal_of(const ModelSpec& model);

    GraphView graph_;
    Diagonal diagonal_;
    bool symmetric_;
    std::int64_t nonzeros_ = 0;
    std::vector<double> row_scale_, column_scale_;  ///< length vertices, or empty: all 1
};

/// Forward multiplies by Â, backward by Âᵀ.
enum class Direction : std::uint8_t { forward, backward };

/// aᵀ; columns of each row ascending.
Csr transposed(const Csr& a);

/// Row p of blocks of Â or Âᵀ under an index map: block j [size(p) × size(j)] has local rows and columns.
std::vector<Csr> block_row(const Adjacency& a, const IndexMap& index, Part p, Direction d);

/// Column p of blocks: block i [size(i) × size(p)].
std::vector<Csr> block_column(const Adjacency& a, const IndexMap& index, Part p, Direction d);
/// `row`: blocks producing this rank's output rows; `column`: blocks consuming its input rows.
enum class BlockLine : std::uint8_t { row, column };

/// The products that a set of blocks serves: those of either direction, or forward's and those of the same blocks'
/// transposes (Backend::spmm_transposed).
enum class ProductDirections : std::uint8_t { both, forward_and_its_transposes };

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
        return *blocks[static_cast<std::size_t>(j)];
    }
    /// The formats the back end chose, for the record.
    std::string formats() const;

private:
    std::vector<std::unique_ptr<PreparedMatrix>> forward_, backward_;
};

}  // namespace gnnbench
