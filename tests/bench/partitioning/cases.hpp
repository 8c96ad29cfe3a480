#pragma once
#include <string>
#include <vector>

#include <gnnbench/graph.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench::bench {

struct PartitioningCase {
    std::string name;
    Csr graph;
    Part parts = 1;
    double goal = 0;  ///< of the volume ÷ that of METIS' cut; 0: none is set

    GraphView view() const { return {.indptr = graph.indptr, .indices = graph.indices, .weights = {}}; }
    std::string label() const { return name + "/" + std::to_string(parts); }
};

/// A mesh, a power law with communities and a pure power law, each in several numbers of parts; a web, roads and hexagons.
std::vector<PartitioningCase> partitioning_cases(double scale);

/// A power law of communities of 200 vertices, with some 16 entries a vertex. `in_order`: numbered community by community, and
/// not at random.
PartitioningCase communities_case(std::int64_t vertices, Part parts, bool in_order);
/// A square grid in natural order, with some five entries a vertex.
PartitioningCase grid_case(std::int64_t vertices, Part parts);

}  // namespace gnnbench::bench
