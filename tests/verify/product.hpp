#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gnnbench/strategy.hpp>

#include "plugin/loader.hpp"

namespace gnnbench::verify {

/// A graph of the product, and a model that is trained on it.
struct Subject {
    std::string graph;
    std::string layers;  ///< "gcn", "sage", "gin", "gat", "gatv2"
    GraphSize size;
    ModelSpec model;
    TrainSpec train;
    bool whole = true;            ///< small enough for every combination; else pairs of values are covered
    bool in_ci = true;            ///< takes so little time that the pairwise selection may have it
    std::vector<int> ranks = {};  ///< that train it; empty: all of the product's
};

/// What becomes of a cell of the product.
enum class Standing : std::uint8_t {
    runs,
    alike,       ///< asks for one part only, so that every partitioner gives what the first one gives
    refused,     ///< strategy or partitioner cannot serve it
    approximate  ///< runs without a reference: operations, messages, steps, memory and volume are checked
};

/// Whether such cells are trained.
inline bool trains(Standing s) { return s == Standing::runs || s == Standing::approximate; }

struct ProductCell {
    int ranks = 1;
    std::string graph, layers, strategy;
    Params params;
    /// Those parameters of the strategy that the product varies, with this cell's values, in declared order.
    std::vector<std::pair<std::string, std::string>> varied;
    std::string changed;  ///< of these, which are not the default: "travel=true, weight_gradient=rows"
    std::string partitioner;
    PartitionNeed need;
    Standing standing = Standing::runs;
    std::string reason;  ///< why it does not run, or what it approximates
};

/// The values of a declared parameter that the product takes, its default first: both of a boolean, every word of
/// a choice; of a count (an integer from 1 on) the least, the default and one more. Other numbers keep their
/// default.
std::vector<std::string> product_values(const ParamDecl& declared);

/// Subjects × strategies × all combinations of their parameters' values × partitioners, at each number of ranks:
/// every strategy and partitioner that the catalog has. A strategy on batches has one parameter changed at a time: its
/// combinations would be most of the product. In this order: ranks, graph and layers, strategy, parameters,
/// partitioner.
std::vector<ProductCell> whole_product(const PluginCatalog& catalog, const std::vector<Subject>& subjects,
                                       const std::vector<int>& ranks);

/// Its cells at one number of ranks that have these places among them, ascending; the others are not made. Throws
/// DataError where there is no such cell.
std::vector<ProductCell> product_cells(const PluginCatalog& catalog, const std::vector<Subject>& subjects,
                                       int ranks, const std::vector<std::size_t>& places);

/// Those at these indices.
std::vector<ProductCell> picked(const std::vector<ProductCell>& cells, const std::vector<std::size_t>& indices);

/// What ./dev verify-all runs, as indices in the product's order: every cell of the graphs that are small enough; of the others few that train and that between
/// them have every pair of values that any of them has, with all that do not train.
std::vector<std::size_t> night_selection(const std::vector<ProductCell>& cells,
                                         const std::vector<Subject>& subjects);

/// Likewise of the exact ones that run, few that between them have every pair of values (graph, layers, ranks, partitioner, strategy,
/// each of its parameters) that any of them has; of 4 ranks only pairs that no other number has. The same cells give the
/// same choice.
std::vector<std::size_t> pairwise_selection(const std::vector<ProductCell>& cells);

}  // namespace gnnbench::verify
