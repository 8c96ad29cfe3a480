#pragma once
#include <span>
#include <vector>

#include "hypergraph.hpp"

namespace gnnbench::hypergraph {

/// A hypergraph whose vertices are the clusters of a finer one.
struct Contraction {
    Hypergraph coarse;
    std::vector<Id> coarse_of;  ///< length fine vertices
};

/// Merges every cluster (named by one of its vertices) into a vertex. Nets lose repeated pins; nets with one pin left
/// vanish; nets with the same pins become one with the sum of their weights. So connectivity−1 of a coarse partition
/// is that of its projection.
Contraction contract(const Hypergraph& fine, std::span<const Id> cluster_of);

/// The same for clusters that are numbered already, 0 … clusters − 1.
Hypergraph contracted(const Hypergraph& fine, std::span<const Id> coarse_of, Id clusters);

}  // namespace gnnbench::hypergraph
