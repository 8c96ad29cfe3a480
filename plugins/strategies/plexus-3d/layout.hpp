#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/vertex_order.hpp>
#include <gnnbench/usize.hpp>

/// Which block of which matrix a rank holds (sections 3.1 and 3.2).
namespace gnnbench::plexus {

// G = X · Y · Z ranks. Neighbours along Y are neighbours in rank, then along X, then along Z, so that Y's groups
// are the first to fit within a node (section 4.2); the grid's own axes run z fastest.
inline constexpr Axis X = Axis::y, Y = Axis::z, Z = Axis::x;
constexpr GridShape grid_of(int x, int y, int z) { return {{z, x, y}}; }
std::string text(const GridShape& grid);  ///< "2 x 2 x 1": X, Y, Z

/// What an axis does in a layer; the roles cycle because layer l's output is sharded as layer l + 1's input.
///   o  rows of F, columns of A; columns of W and Q. H's partial sums are reduced over it
///   i  columns of F, rows of W. Q's partial sums are reduced over it
///   d  rows of A, H and Q. W, and layer 0's F, are sharded further over it
struct Roles {
    Axis o, i, d;
};
Roles roles_of(int layer);

/// One rank's part of layer l, F [N × f] → Q [N × g], sizes as equal as possible.
struct LayerShape {
    Roles roles;
    std::int64_t n_o = 0, n_d = 0;          ///< rows of F and of A, H, Q
    std::int64_t f_i = 0, g_o = 0;          ///< columns of F and of Q
    std::int64_t first_f = 0, first_g = 0;  ///< where they begin in the whole matrix
    bool bias = false;

    /// W [f_i × g_o], and below it the bias as one more row: what the ranks along d share.
    std::int64_t parameter_rows() const { return f_i + (bias ? 1 : 0); }
    std::int64_t parameters() const { return parameter_rows() * g_o; }
};

class Layout {
public:
    Layout(const GridShape& grid, const ModelSpec& model, std::int64_t vertices, int rank);

    const GridShape& grid() const { return grid_; }
    int rank() const { return rank_; }
    const GridPlace& place() const { return place_; }
    int extent(Axis a) const { return grid_.extent(a); }
    int at(Axis a) const { return place_[a]; }
    int layers() const { return static_cast<int>(layers_.size()); }
    const LayerShape& layer(int l) const { return layers_[usize(l)]; }
    /// Layer 0's F is cut further by rows, each layer's W and bias by elements: how many, by coordinate along d.
    std::vector<std::int64_t> feature_counts() const {
        return block_sizes(layer(0).n_o, extent(layer(0).roles.d));
    }
    std::vector<std::int64_t> parameter_counts(int l) const {
        return block_sizes(layer(l).parameters(), extent(layer(l).roles.d));
    }
    /// Where this rank's run of W and bias begins.
    std::int64_t parameter_begin(int l) const {
        return block_begin(layer(l).parameters(), extent(layer(l).roles.d), at(layer(l).roles.d));
    }

private:
    GridShape grid_;
    GridPlace place_;
    int rank_;
    std::vector<LayerShape> layers_;
};

/// What extents that are not given are chosen by.
enum class GridChoice : std::uint8_t { bytes, predicted };

/// Which flops the thesis' regression of SpMM is given (section 4.1): a rank's, or those of all ranks, as printed.
enum class Prediction : std::uint8_t { per_rank, printed };

/// The plugin's parameters, read.
struct Options {
    std::array<int, 3> size{};  ///< 0: chosen by `choose_grid`
    GridChoice choice = GridChoice::predicted;
    Prediction prediction = Prediction::per_rank;
    Permutation permutation = Permutation::separate;
    std::int64_t permutation_seed = -1;
    int blocks = 1;
    bool overlaps_blocks = true;
    bool tune = false;
    bool trainable = false;
    bool sparse = false;
};
Options read_options(const Params& params);

/// [Sec 5.1] Rows and columns of A that layer l sees, by axis: the index map over d has its rows, that over o its
/// columns. Even layers multiply by P_r A P_cᵀ, odd ones by P_c A P_rᵀ, so that one's rows are the next one's
/// columns.
class VertexBlocks {
public:
    VertexBlocks(const Problem& problem, const Layout& layout, const Options& options);
    const IndexMap& rows(int l) const { return map(roles_of(l).d, l % 2 == 0); }
    const IndexMap& columns(int l) const { return map(roles_of(l).o, l % 2 == 1); }
    /// Whether vertices lie in another order than the dataset's, so that a rank's blocks are scattered over all of it.
    bool scattered() const;
    /// Which of the three shards of A layer l multiplies by; of six, where rows and columns are permuted apart.
    int shard(int l) const { return l % 3 + (separate_ ? 3 * (l % 2) : 0); }

private:
    const IndexMap& map(Axis a, bool by_rows) const { return maps_[(by_rows || !separate_ ? 0 : 3) + usize(a)]; }
    bool separate_;
    std::vector<IndexMap> maps_;  ///< by axis, cut in the order of the rows; then in that of the columns
};
/// [Sec 5.4] Whether ranks read the dataset together, each a run of it, and send one another what they hold: where the
/// dataset's order is not theirs. Ranks that share a process, and so its pages, read for themselves all the same.
bool reads_together(const Problem& problem, const VertexBlocks& vertices);
/// The same for all ranks of a grid.
std::shared_ptr<const VertexBlocks> vertex_blocks(const Problem& problem, const Layout& layout,
                                                  const Options& options);

}  // namespace gnnbench::plexus
