#include <catch2/catch.hpp>

#include <numeric>
#include <vector>

#include <gnnbench/simulation/simulation.hpp>

#include "simulation/network.hpp"
#include "simulation/rings.hpp"
#include "spec/machine_file.hpp"

namespace gnnbench::simulation {
namespace {

std::vector<int> first(int ranks) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

TEST_CASE("rings use each link once in each direction") {
    const auto rings = [](const std::string& machine, const std::vector<int>& devices) {
        return rings_among(load_machine(machine).links.pairs, devices);
    };
    // A cube mesh: six links a device, four of them inside each half (MG-GCN, section 5).
    CHECK(rings("dgx-v100", first(8)) == 6);
    CHECK(rings("dgx-v100", first(4)) == 4);
    CHECK(rings("dgx-v100", {4, 5, 6, 7}) == 4);
    CHECK(rings("dgx-v100", {0, 1}) == 1);
    CHECK(rings("dgx-v100", {0, 3}) == 2);
    CHECK(rings("dgx-v100", {0, 5}) == 0);
    CHECK(rings("dgx-v100", {0, 3, 5}) == 0);
    CHECK(rings("perlmutter", first(4)) == 12);
    CHECK(rings("perlmutter", first(3)) == 8);
    CHECK(rings("perlmutter", {1, 3}) == 4);
    CHECK(rings("perlmutter", {2}) == 0);
    // A complete graph of nine: four cycles and all links used.
    std::vector<Links::Pair> all;
    for (int a = 0; a < 9; ++a)
        for (int b = a + 1; b < 9; ++b) all.push_back({a, b, 1});
    CHECK(rings_among(all, first(9)) == 8);
    all.pop_back();
    CHECK(rings_among(all, first(9)) == 6);
}

TEST_CASE("pairs of devices say what a group inside a node reaches, and what a message") {
    const Machine m = load_machine("dgx-v100");
    CHECK(placement_of(m, std::vector{0, 1}).within == Approx(20e9));
    CHECK(placement_of(m, std::vector{0, 3}).within == Approx(40e9));
    CHECK(placement_of(m, std::vector{0, 5}).within == Approx(m.device.host_link_bandwidth));
    CHECK(bandwidth_between(m, 4, 0) == Approx(40e9));
    CHECK(bandwidth_between(m, 0, 5) == 0);
}

TEST_CASE("what groups were measured to carry is found by distance and ranks") {
    const Machine m = load_machine("perlmutter");
    const auto seconds = [&](const std::vector<int>& ranks) {
        return cost_of(Collective::all_gather, Wait::at_once, 1e9, placement_of(m, ranks), m, NetworkModel::links)
            .transfer_s;
    };
    const auto apart = [](int distance, int ranks) {
        std::vector<int> all = first(ranks);
        for (int& r : all) r *= distance;
        return all;
    };
    const auto rate = [&](int distance, int ranks) {
        return 1e9 * (ranks - 1) / ranks / seconds(apart(distance, ranks)) / 1e9;
    };
    CHECK(rate(1, 2) == Approx(76));
    CHECK(rate(1, 4) == Approx(225));
    CHECK(rate(1, 8) == Approx(66.59));
    CHECK(rate(1, 64) == Approx(66.59));
    CHECK(rate(2, 2) == Approx(76));
    CHECK(rate(2, 16) == Approx(66.59 / 2));
    CHECK(rate(4, 2) == Approx(66.59 / 4));
    CHECK(rate(64, 8) == Approx(66.59 / 4));
    CHECK(rate(3, 2) == Approx(76));  // the row of distance 2
    // Neighbours on two nodes: no row is of these, and a card joins them, which is what it takes of its node's.
    CHECK(1e9 / 2 / seconds({3, 4}) / 1e9 == Approx(25));
    const auto taken = [&](const std::vector<int>& ranks) {
        return cost_of(Collective::all_gather, Wait::at_once, 1e9, placement_of(m, ranks), m, NetworkModel::links)
            .network_rate;
    };
    CHECK(taken({3, 4}) == Approx(25e9));
    // All groups of a kind together take a node's cards whole.
    CHECK(taken(apart(4, 2)) * 4 == Approx(66.59e9));
}

// NVIDIA/nccl-tests#139: an all-to-all of 4 GiB on 16 GPUs takes about 200 ms. No number of the file is fitted to it.
TEST_CASE("an all-to-all over Perlmutter's nodes takes as long as others measured") {
    constexpr int ranks = 16;
    constexpr std::int64_t bytes = (std::int64_t{4} << 30) / ranks;
    std::vector<double> seconds(ranks);
    Simulation simulation(load_machine("perlmutter"), NetworkModel::links, ranks);
    simulation.run([&](const ProcessGroup& world) {
        SimulatedRank& me = rank_of(world);
        const auto transport = me.connect(world);
        std::vector<Message> all;
        for (int peer = 0; peer < ranks; ++peer)
            if (peer != world.rank()) all.push_back({peer, nullptr, bytes});
        transport->exchange(all, all);
        me.synchronize(StreamRole::communication);
        seconds[static_cast<std::size_t>(world.rank())] = me.host_s();
    });
    for (const double s : seconds) CHECK(s == Approx(0.2).epsilon(0.2));
}

// NVIDIA/nccl#1272: between two GPUs of two nodes over Slingshot, 24.2 GB/s by NCCL 2.19.4. No number is fitted to it either.
TEST_CASE("two GPUs on two of Perlmutter's nodes have a card's rate") {
    constexpr std::int64_t bytes = std::int64_t{1} << 30;
    Simulation simulation(load_machine("perlmutter"), NetworkModel::links, 5);
    simulation.run([&](const ProcessGroup& world) {
        SimulatedRank& me = rank_of(world);
        const auto transport = me.connect(world);
        if (world.rank() % 4 != 0) return;
        const Message other[] = {{4 - world.rank(), nullptr, bytes}};
        transport->exchange(other, other);
        me.synchronize(StreamRole::communication);
        CHECK(static_cast<double>(bytes) / me.host_s() / 1e9 == Approx(24.2).epsilon(0.2));
    });
}

}  // namespace
}  // namespace gnnbench::simulation
