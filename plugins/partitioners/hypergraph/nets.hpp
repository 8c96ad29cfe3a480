#pragma once
#include <gnnbench/graph.hpp>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

/// Whose volume connectivity−1 is. Training multiplies by Â forward and by its transpose backward.
enum class Nets {
    columns,  ///< the forward product's: net j is what needs row j of H
    rows,     ///< the backward product's: net i is what needs row i of the gradient
    both,     ///< the sum
};

/// The column-net hypergraph of Â (Çatalyürek & Aykanat 1999; Demirci et al., equation 10): net j holds the rows with
/// an entry in column j, and j itself. A vertex weighs the entries of its row, diagonal included, or 1. Nets of one
/// pin, which can't be cut, are left out. Throws DataError where 32 bits do not number the vertices.
Hypergraph column_nets(const GraphView& graph, bool unit_weights);

/// The same vertices with the nets asked for. Net i of the rows holds the columns with an entry in row i, and i itself.
/// With `both`, a vertex whose two nets have the same pins has one net of weight 2. An undirected graph has its column
/// nets whatever is asked for: connectivity−1 is then half of what `both` means.
Hypergraph product_nets(const GraphView& graph, Nets nets, bool unit_weights);

/// The same, but equal nets stay apart: those of columns come first, those of rows from first_row_net on.
Hypergraph separate_product_nets(const GraphView& graph, Nets nets, bool unit_weights);

}  // namespace gnnbench::hypergraph
