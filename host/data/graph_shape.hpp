#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/graph.hpp>

#include <data/components.hpp>

namespace gnnbench {

/// Degrees from 1 on fall into bins whose bounds grow by 2^¼; up to 7, each has its own.
std::int64_t degree_bin(std::int64_t degree);

/// Degrees and clustering of an undirected graph, each edge stored from both ends, without loops.
struct GraphShape {
    std::vector<std::int64_t> histogram;  ///< element d: vertices of degree d
    std::vector<double> clustering;       ///< element b: mean local clustering over the vertices of degree_bin b
    Components components;
};

/// Counts degrees and components; clustering of at most 20,000 vertices of a bin, by all of a vertex's pairs of
/// neighbours or 16 to 4,096 random ones. The same on any number of threads.
GraphShape measure_shape(const GraphView& graph, std::uint64_t seed);

/// What a generator was asked for beside what it made.
struct ShapeReport {
    /// Vertices whose degrees fall into one bin.
    struct Bin {
        std::int64_t from = 0, to = 0;  ///< degrees
        std::int64_t wanted_vertices = 0, reached_vertices = 0;
        double wanted_clustering = 0, reached_clustering = 0;
    };
    double wanted_mean_degree = 0, reached_mean_degree = 0;
    std::int64_t wanted_largest_degree = 0, reached_largest_degree = 0;
    double degree_distance = 0;  ///< Kolmogorov and Smirnov's: largest difference of the distribution functions
    bool clustering_wanted = false;
    double wanted_clustering = 0, reached_clustering = 0;  ///< means over all vertices
    /// Σ vertices · |reached − wanted| ÷ Σ vertices · wanted over the bins; where clustering is wanted.
    double clustering_error = 0;
    Components components;
    std::vector<Bin> bins;
};

/// `degrees`: wanted ones, ascending. `clustering`: element d, wanted of degree d; empty: none is.
ShapeReport compare_shape(std::span<const std::int32_t> degrees, std::span<const double> clustering,
                          const GraphShape& reached);

/// As a manifest keeps it.
nlohmann::json to_json(const ShapeReport& report);

}  // namespace gnnbench
