#pragma once
#include <string>
#include <vector>

#include "plugin/loader.hpp"

namespace gnnbench::bench {

/// Partitioners over ranks beside `hypergraph` and METIS in one process, on a mesh, communities and a power law in 64 parts:
/// volume, time and memory; a table in Markdown. `only`: of the graphs whose name contains it.
std::string over_ranks_table(const PluginCatalog& catalog, double scale, const std::vector<int>& ranks, int seeds,
                             double imbalance, const std::string& only);

/// Of the partitioner over so many ranks on graphs of about so many million entries, without the serial ones: a grid, and
/// communities, numbered one after another and at random, since what a rank holds of others depends on that.
std::string largest_over_ranks(const PluginCatalog& catalog, double millions, const std::vector<int>& ranks,
                               double imbalance, const std::string& only);

}  // namespace gnnbench::bench
