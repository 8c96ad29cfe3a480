#pragma once
#include <cstdint>

#include <gnnbench/matrix.hpp>

namespace gnnbench::bench {

/// A crawl of web hosts by a copying model (Kumar et al., 2000): pages come one after another, each with `links` links; one
/// half of them are copied from an earlier page, mostly of its own host, the others go to a random page, mostly of its host.
/// Sizes of hosts are a power law. Directed; pages of a host are neighbours by number.
struct Web {
    std::int64_t pages = 0;
    std::int64_t links = 10;
    double within = 0.85;    ///< how often a prototype or a page linked to is of the same host
    double mean_host = 200;  ///< pages
    std::uint64_t seed = 1;
};
Csr web(const Web& w);

/// Roads: crossings on a side × side grid, of whose streets some are missing, and the others run through vertices of degree 2,
/// `along` of them on average (geometric). Undirected, without a diagonal, vertices in random order.
struct Roads {
    std::int64_t side = 0;
    double missing = 0.25;
    double along = 2;
    std::uint64_t seed = 1;
};
Csr roads(const Roads& r);

/// Hexagons: a side × side mesh of vertices of degree 3. Undirected, without a diagonal, vertices in random order.
Csr hexagons(std::int64_t side, std::uint64_t seed);

}  // namespace gnnbench::bench
