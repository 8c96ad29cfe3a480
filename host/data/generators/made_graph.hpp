#pragma once
#include <cstdint>

#include <data/degree_profile.hpp>
#include <data/raw_dataset.hpp>

namespace gnnbench {

/// What is wanted of an undirected graph.
struct GraphWish {
    DegreeProfile profile;
    std::int64_t vertices = 0;
    bool shuffled = true;  ///< vertices in random order, else by degree
    std::uint64_t seed = 1;
};

/// Phase 1 and 2 of BTER: degrees and clustering.
RawGraph bter_graph(const GraphWish& wish);
/// The configuration model: degrees alone.
RawGraph configuration_graph(const GraphWish& wish);

/// A dataset's graph and report, nothing else.
RawDataset make_bter(const GraphWish& wish);
RawDataset make_configuration(const GraphWish& wish);

}  // namespace gnnbench
