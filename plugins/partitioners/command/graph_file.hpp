#pragma once
#include <filesystem>
#include <string>

#include <gnnbench/graph.hpp>

namespace gnnbench::command {

/// What other partitioners read. `weighted`: vertices weigh the nonzeros of their rows of Â.
///
/// metis:   "n m 010", then line v: [weight] and the neighbours of v in A ∪ Aᵀ, counted from 1
/// hmetis:  "nets n 10", then line j: the rows of Â that hold column j, counted from 1; then the weights
/// patoh:   "0 n nets pins 1", then the same, counted from 0; then the weights
void write_graph(const std::filesystem::path& file, const std::string& format, const GraphView& graph,
                 bool weighted);

}  // namespace gnnbench::command
