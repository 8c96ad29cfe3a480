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

TEST_CASE("a larger broadcast by MPI is scattered and gathered, the largest pipelined") {
    // Both among nodes and within: 2 · 3 levels and 2 · 7/8 of 100 KB, 2 · 6 levels and 2 · 47/48 of them.
    CHECK(seconds(Collective::broadcast, 1e5, eight_nodes) ==
          Approx((12 + 12) * 1e-6 + (1.75 + 2 * 47 / 48.) * 1e-5));
    // 10 KB within a node level by level: 6 levels, 6 times the bytes.
    CHECK(seconds(Collective::broadcast, 1e4, eight_nodes) == Approx((6 + 6) * 1e-6 + (3 + 6) * 1e-6));
    CHECK(seconds(Collective::broadcast, 1e8, eight_nodes) == Approx(390e-6 + 1e-2));
    CHECK(seconds(Collective::reduce, 1e5, eight_nodes) ==
          Approx(seconds(Collective::broadcast, 1e5, eight_nodes)));
}

TEST_CASE("MPI's all-gathers double, reduce-scatters halve, and all-reduces do both") {
    const Placement leaders{.ranks = 8, .nodes = 8, .within = INFINITY};
    for (const Collective c : {Collective::all_gather, Collective::reduce_scatter})
        CHECK(seconds(c, 1e5, leaders) == Approx(3 * 2e-6 + 0.875e-5));
    CHECK(seconds(Collective::all_reduce, 1e5, leaders) == Approx(6 * 2e-6 + 1.75e-5));
    CHECK(seconds(Collective::all_reduce, 1e3, leaders) == Approx(3 * 2e-6 + 3e-7));
    // Eleven nodes take four levels.
    CHECK(seconds(Collective::broadcast, 0, Placement{.ranks = 11, .nodes = 11, .within = INFINITY}) ==
          Approx(8e-6));
}

TEST_CASE("a machine without MPI has rings, which are no faster") {
    for (const Collective c : {Collective::broadcast, Collective::reduce, Collective::all_reduce,
                               Collective::all_gather, Collective::reduce_scatter, Collective::barrier})
        for (double bytes = 1; bytes < 1e9; bytes *= 10)
            for (const Placement& g : {eight_nodes, Placement{.ranks = 2, .nodes = 2, .within = INFINITY},
                                       Placement{.ranks = 5, .nodes = 1, .most_on_a_node = 5, .within = 10e9}})
                CHECK(seconds(c, bytes, g) <= seconds(c, bytes, g, false));
}
