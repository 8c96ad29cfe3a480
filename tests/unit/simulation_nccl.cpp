// NCCL's choices, beside its model computed by hand (src/graph/tuning.cc at v2.19.3-1).
#include <catch2/catch.hpp>

#include "simulation/nccl.hpp"

namespace gnnbench::simulation {
namespace {

constexpr double micro = 1e-6;

Links ampere() {
    Links l;
    l.nccl_capability = 80;
    l.nccl_amd_host = l.nccl_ll128_between_nodes = true;
    return l;
}
Placement on(int nodes, int each) {
    Placement p;
    p.ranks = nodes * each;
    p.nodes = nodes;
    p.most_on_a_node = each;
    return p;
}

void check(const NcclTime& t, NcclAlgorithm a, NcclProtocol p, double latency_us, double bandwidth) {
    CHECK(t.algorithm == a);
    CHECK(t.protocol == p);
    CHECK(t.latency_s == Approx(latency_us * micro));
    CHECK(t.bandwidth == Approx(bandwidth));
}

TEST_CASE("NCCL takes LL for little, LL128 for more and Simple for much") {
    const Links l = ampere();
    const auto all_reduce = [&](double bytes) {
        return nccl_choice(Collective::all_reduce, bytes, on(1, 8), l, 235e9);
    };
    // Rings of 14 steps; a tree's latency would be 6.8 + 2 · 7 · 0.6.
    check(all_reduce(512), NcclAlgorithm::ring, NcclProtocol::ll, 6.6 + 14 * 0.6, 235e9 / 4 * 8 / 14);
    check(all_reduce(16e6), NcclAlgorithm::ring, NcclProtocol::ll128, 14 + 14 * 1.9, 235e9 * 0.92 * 8 / 14);
    check(all_reduce(1e9), NcclAlgorithm::ring, NcclProtocol::simple, 8.4 + 14 * 3.4, 235e9 * 8 / 14);
}

TEST_CASE("NCCL takes a tree of nodes where a ring has too many") {
    const Links l = ampere();
    // 4 ranks on each of 16 nodes: 2 · (3 steps inside, 4 levels); its correction at 4 KiB is 0.7, LL's most 19 GB/s.
    check(nccl_choice(Collective::all_reduce, 4096, on(16, 4), l, 66e9), NcclAlgorithm::tree, NcclProtocol::ll,
          6.8 + 2 * (3 * 0.6 + 4 * 5), 66e9 * 0.92 / 3.8 / 2 * 0.7);
    // Much goes round: 2 · 16 of its 126 steps are between nodes, the others as long as three posts to the network.
    check(nccl_choice(Collective::all_reduce, 64e9, on(16, 4), l, 66e9), NcclAlgorithm::ring, NcclProtocol::simple,
          1.4 * (8.4 + 94 * 6 + 32 * 14), 66e9 * 64 / 126);
}

TEST_CASE("NCCL gathers, scatters and broadcasts in rings alone") {
    Links l = ampere();
    check(nccl_choice(Collective::all_gather, 1e9, on(4, 1), l, 20e9), NcclAlgorithm::ring, NcclProtocol::simple,
          8.4 + 3 * 14, 20e9 * 4 / 3);
    check(nccl_choice(Collective::reduce_scatter, 1e6, on(4, 1), l, 20e9), NcclAlgorithm::ring,
          NcclProtocol::ll128, 14 + 3 * 4, 20e9 * 0.7 * 4 / 3);
    check(nccl_choice(Collective::reduce_scatter, 1e5, on(4, 1), l, 20e9), NcclAlgorithm::ring, NcclProtocol::ll,
          6.6 + 3 * 2.7, 20e9 / 4 * 4 / 3);
    // Where a switch joins all, a broadcast takes one step's latency; through links of pairs it waits for chunks.
    check(nccl_choice(Collective::broadcast, 1e9, on(1, 8), l, 235e9), NcclAlgorithm::ring, NcclProtocol::simple,
          8.4 + 3.4, 235e9);
    l.pairs = {{0, 1, 2}};
    check(nccl_choice(Collective::broadcast, 1e7, on(1, 8), l, 120e9), NcclAlgorithm::ring, NcclProtocol::ll128,
          14 + 8 * 1.9, 120e9 * 0.92);
    check(nccl_choice(Collective::broadcast, 1e9, on(1, 8), l, 120e9), NcclAlgorithm::ring, NcclProtocol::simple,
          8.4 + 8 * 28, 120e9);
}

TEST_CASE("without shared switches NCCL has no LL128 between nodes") {
    Links l = ampere();
    l.nccl_ll128_between_nodes = false;
    for (double bytes = 8; bytes < 1e9; bytes *= 2) {
        CHECK(nccl_choice(Collective::all_reduce, bytes, on(4, 4), l, 66e9).protocol != NcclProtocol::ll128);
        CHECK(nccl_choice(Collective::all_gather, bytes, on(2, 1), l, 16e9).protocol != NcclProtocol::ll128);
    }
    CHECK(nccl_choice(Collective::all_reduce, 1e6, on(1, 4), l, 225e9).protocol == NcclProtocol::ll128);
}

TEST_CASE("what NCCL chooses is never slower for faster links or fewer bytes by half") {
    for (const int capability : {70, 80})
        for (const auto& [nodes, each] : {std::pair{1, 2}, {1, 8}, {2, 1}, {2, 4}, {5, 3}, {64, 4}})
            for (const Collective c : {Collective::all_reduce, Collective::all_gather, Collective::broadcast})
                for (double bytes = 4; bytes < 1e11; bytes *= 2) {
                    Links l = ampere();
                    l.nccl_capability = capability;
                    const Placement p = on(nodes, each);
                    const auto seconds = [&](double of, double carried) {
                        return nccl_choice(c, of, p, l, carried).seconds(of);
                    };
                    CHECK(seconds(bytes, 40e9) <= seconds(bytes, 20e9));
                    CHECK(seconds(bytes / 2, 20e9) <= seconds(bytes, 20e9));
                }
}

TEST_CASE("NCCL's chunks are written and read on the way") {
    const auto check = [](const ByPlace& p, double root, double between, double end) {
        CHECK(p.root == Approx(root));
        CHECK(p.between == Approx(between));
        CHECK(p.end == Approx(end));
    };
    check(nccl_memory_per_hop_byte(Collective::broadcast, 4, 80), 3, 3, 1);
    check(nccl_memory_per_hop_byte(Collective::broadcast, 4, 70), 1, 3, 3);
    check(nccl_memory_per_hop_byte(Collective::reduce, 4, 80), 2, 3, 3);
    check(nccl_memory_per_hop_byte(Collective::reduce, 4, 70), 4, 3, 1);
    // Wherever they lie, a rank of five reads and writes as often as its four, or eight, sends and receives do together.
    for (const int capability : {70, 80}) {
        for (const Collective c : {Collective::all_gather, Collective::all_reduce})
            check(nccl_memory_per_hop_byte(c, 5, capability), 3.25, 3.25, 3.25);
        check(nccl_memory_per_hop_byte(Collective::reduce_scatter, 5, capability), 3.5, 3.5, 3.5);
    }
}

}  // namespace
}  // namespace gnnbench::simulation
