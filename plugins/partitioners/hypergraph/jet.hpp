#pragma once
#include <cstddef>
#include <span>

#include "partitioned.hpp"

namespace gnnbench::hypergraph {

/// One run of Jet: a move may lose `temperature` times what holds the vertex; parts may get `slack` heavier than the
/// limit before they are rebalanced; it ends after `patience` iterations that found nothing better.
struct JetRound {
    double temperature, slack;
    int patience;
};

/// Lowers connectivity−1 by unconstrained moves and rebalancing; leaves the best partition found whose parts weigh at
/// most `limit`, or the one it got if none did. Returns how many rounds at the beginning were too hot to be of use: on
/// finer levels they are, too.
std::size_t refine_jet(Partitioned& partition, Weight limit, std::span<const JetRound> rounds);

}  // namespace gnnbench::hypergraph
