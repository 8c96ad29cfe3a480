#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <gnnbench/usize.hpp>

namespace gnnbench {

/// Rows of a sparse matrix, one after another: those of a graph, or of its transpose.
struct CompressedRows {
    std::span<const std::int64_t> indptr;   ///< length vertices + 1; empty: not at hand
    std::span<const std::int32_t> indices;  ///< length edges, ascending in each row, no repeats
    std::span<const float> weights;         ///< length edges, or empty: every weight is 1
};

/// A square matrix cut by rows and by columns into tiles, each with rows of its own: whoever needs some of the rows and
/// some of the columns reads only the tiles that have them. Tile (r, c) has the entries with row in
/// [r·tile_rows, (r + 1)·tile_rows) and column in [c·tile_columns, (c + 1)·tile_columns); of the matrix' n rows and
/// columns, the last tiles may have fewer. Tiles lie one after another, (0, 0), (0, 1), …
struct TiledRows {
    std::int64_t tile_rows = 0, tile_columns = 0;
    std::int64_t down = 0, across = 0;  ///< tiles above, and beside, one another
    /// Length down · across + 1: the first entry of each tile, and the number of all.
    std::span<const std::int64_t> starts;
    /// [down · across × (tile_rows + 1)]: where each row begins, from its tile's first entry; rows past n end where they begin.
    std::span<const std::int32_t> row_starts;
    std::span<const std::int32_t>
        indices;                     ///< length edges: columns of the matrix, ascending in each row of a tile
    std::span<const float> weights;  ///< length edges, or empty: every weight is 1

    bool empty() const { return down == 0; }
    struct Run {
        std::int64_t begin, end;
    };
    /// The entries of row v in tiles (·, c), by their places in `indices`.
    Run row(std::int64_t v, std::int64_t c) const {
        const std::int64_t r = v / tile_rows, tile = r * across + c;
        const auto at = usize(tile * (tile_rows + 1) + v - r * tile_rows);
        const std::int64_t first = starts[usize(tile)];
        return {first + row_starts[at], first + row_starts[at + 1]};
    }
};

/// A view of a graph in compressed rows, in the dataset's own vertex order (usually of a
/// memory-mapped store). Row v lists the vertices that v aggregates from: an edge u → v is entry u of row v.
struct GraphView {
    std::span<const std::int64_t> indptr;   ///< length vertices + 1
    std::span<const std::int32_t> indices;  ///< length edges, ascending in each row, no repeats
    std::span<const float> weights;         ///< length edges, or empty: every weight is 1
    bool symmetric = false;                 ///< known to equal its transpose, weights too
    /// The same edges by source: row u lists the vertices that aggregate from u. Where it is not at hand, what needs it
    /// walks the whole graph. A symmetric graph is its own.
    CompressedRows transpose = {};
    /// The same entries in tiles, of the rows and of the transpose's; empty: not at hand.
    TiledRows tiles = {}, transpose_tiles = {};
    /// Σ of each row's and each column's weights, float64, length vertices; empty: not at hand. Without weights, the row
    /// pointers tell them.
    std::span<const double> row_sums = {}, column_sums = {};
    std::int64_t self_loops = -1;  ///< entries (v, v); −1: unknown
    /// All of these arrays are in files that are mapped read-only: a page that is let go can be read again.
    bool in_files = false;

    std::int64_t vertices() const { return indptr.empty() ? 0 : static_cast<std::int64_t>(indptr.size()) - 1; }
    std::int64_t edges() const { return static_cast<std::int64_t>(indices.size()); }
    CompressedRows rows() const { return {indptr, indices, weights}; }
    /// The transpose's rows; without row pointers where they are not at hand.
    CompressedRows columns() const { return symmetric ? rows() : transpose; }
    const TiledRows& column_tiles() const { return symmetric ? tiles : transpose_tiles; }
};

/// Which split a vertex belongs to; the values stored in a dataset's masks.
enum class Split : std::uint8_t { none = 0, train = 1, validation = 2, test = 3 };

/// A whole dataset as every rank sees it. Memory-mapped: ranks of one host share the pages.
struct DatasetView {
    std::string name;
    GraphView graph;
    std::int64_t feature_count = 0;
    std::span<const float> features;  ///< [vertices × feature_count], row-major
    std::int32_t classes = 0;
    /// Length vertices, −1 where unknown; empty where vertices have several labels.
    std::span<const std::int32_t> labels;
    /// [vertices × classes], row-major: 1 where the vertex has the class's label, else 0. Empty where each has one
    /// label.
    std::span<const std::uint8_t> label_matrix = {};
    std::span<const Split> split;  ///< length vertices

    /// A vertex may have any number of labels, none included: the loss is binary cross-entropy, the score micro-F1.
    bool multi_label() const { return !label_matrix.empty(); }
};

}  // namespace gnnbench
