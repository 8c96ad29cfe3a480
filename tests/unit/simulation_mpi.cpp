#include "simulation/mpi.hpp"

#include <catch2/catch.hpp>

using namespace gnnbench;
using namespace gnnbench::simulation;
using Catch::Detail::Approx;

namespace {

Machine machine(bool mpi) {
    Machine m;
    m.devices_per_node = 48;
    m.links = {.link_bandwidth = 10e9, .among = {{2, 1}}};
    m.links.nic_bandwidth = 10e9;
    m.links.base_s = 0;
    m.links.hop_s = 1e-6;
    m.links.network_hop_s = 2e-6;
    m.links.mpi = mpi;
    return m;
}

/// 384 ranks on 8 nodes of 48.
const Placement eight_nodes{.ranks = 384, .nodes = 8, .most_on_a_node = 48, .within = 10e9};

double seconds(Collective c, double bytes, const Placement& g, bool mpi = true) {
    const CollectiveCost cost = cost_of(c, Wait::at_once, bytes, g, machine(mpi), NetworkModel::links);
    return cost.latency_s + cost.transfer_s;
}

}  // namespace

TEST_CASE("a small broadcast by MPI takes the levels of a binomial tree, not the ranks of a ring") {
    CHECK(seconds(Collective::broadcast, 0, eight_nodes) == Approx((3 * 2 + 6 * 1) * 1e-6));
    CHECK(seconds(Collective::broadcast, 0, eight_nodes, false) == Approx((7 * 2 + 376 * 1) * 1e-6));
    CHECK(seconds(Collective::barrier, 0, eight_nodes) == Approx((3 * 2 + 12 * 1) * 1e-6));
}

TEST_CASE("a larger broadcast by MPI is scattered among nodes and gathered, the largest pipelined") {
    // Over the cards 2 · 7/8 of 100 KB, and within a node 2 of them; latencies of 2 · 3 levels among nodes, 6 within.
    CHECK(seconds(Collective::broadcast, 1e5, eight_nodes) == Approx(18e-6 + 3.75e-5));
    CHECK(seconds(Collective::broadcast, 1e8, eight_nodes) == Approx(390e-6 + 1e-2));
    CHECK(seconds(Collective::reduce, 1e5, eight_nodes) == Approx(seconds(Collective::broadcast, 1e5, eight_nodes)));
}

TEST_CASE("MPI's all-gathers double, and its all-reduces halve and double") {
    CHECK(seconds(Collective::all_gather, 1e5, eight_nodes) == Approx(18e-6 + (0.875 + 2 + 0.25) * 1e-5));
    CHECK(seconds(Collective::all_reduce, 1e5, eight_nodes) == Approx(24e-6 + (1.75 + 4) * 1e-5));
    CHECK(seconds(Collective::all_reduce, 1e3, eight_nodes) == Approx(18e-6 + (3 + 4) * 1e-7));
}

TEST_CASE("MPI is no slower than rings") {
    for (const Collective c : {Collective::broadcast, Collective::reduce, Collective::all_reduce, Collective::all_gather,
                               Collective::reduce_scatter, Collective::barrier})
        for (double bytes = 1; bytes < 1e9; bytes *= 10)
            for (const Placement& g : {eight_nodes, Placement{.ranks = 2, .nodes = 2, .within = INFINITY},
                                       Placement{.ranks = 5, .nodes = 1, .most_on_a_node = 5, .within = 10e9}})
                CHECK(seconds(c, bytes, g) <= seconds(c, bytes, g, false));
}
