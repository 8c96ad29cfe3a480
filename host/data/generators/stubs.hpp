#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <data/raw_dataset.hpp>

namespace gnnbench {

/// Ends of undirected edges: edge e joins source[e] and target[e].
struct EdgeEnds {
    std::vector<std::int32_t> source, target;
};

/// Vertex v times[v] times, in an order drawn at random; all orders are equally likely. `round`: another order. On all
/// threads; the result does not depend on their number.
std::vector<std::int32_t> shuffled_stubs(std::span<const std::int32_t> times, std::uint64_t seed,
                                         std::uint32_t round);

/// Vertices' degrees, and edges that there are already.
struct StubMatching {
    EdgeEnds given;                         ///< no loops, no repeats, no vertex beyond its degree
    std::span<const std::int32_t> degrees;  ///< of vertex v, the given edges included; their sum is even
    std::span<const std::int32_t> group{};  ///< of vertex v, or empty: edges inside a group stay
    std::uint64_t seed = 1;
};

/// The configuration model as a simple graph: what a vertex lacks to its degree are stubs, joined two by two at
/// random. Pairs that would be loops or repeats are matched again among themselves; what is left then takes the place
/// of random other edges (u–u' and x–y become u–x and u'–y). Degrees are reached exactly unless even that is
/// impossible.
RawGraph match_stubs(StubMatching matching);

}  // namespace gnnbench
