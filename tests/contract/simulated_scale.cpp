// Stated and counted volume at hundreds and thousands of simulated ranks.
#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <map>

#include "contract/at_scale.hpp"
#include "contract/simulated_case.hpp"

namespace gnnbench::contract {
namespace {

/// Without batches, whose epochs have a step for each of few batches, and without independent workers.
std::vector<AtScale> schemes_at_scale() {
    const std::vector<int> usual{256, 1024, 2048};
    std::vector<AtScale> all{{"cagnet-3d", {}, {216, 512, 1000, 1728}}};
    for (const char* name : {"plexus-3d", "cagnet-2d", "cagnet-1.5d", "sa-1.5d", "sa-1d", "bns-gcn", "demirci-p2p",
                             "allreduce-gcn", "cluster-gcn", "minibatch-p2p"})
        all.push_back({name, {}, usual});
    for (const char* name : {"cagnet-2d", "cagnet-3d"})
        all.push_back({name, {{"travel", "true"}}, name == std::string("cagnet-2d") ? usual : all[0].ranks});
    for (const char* fibre : {"all_reduce", "released"})
        all.push_back({"cagnet-3d", {{"fibre", fibre}}, all[0].ranks});
    all.push_back({"bns-gcn", {{"rate", "0.1"}}, usual});
    all.push_back({"plexus-3d", {{"sparse_all_reduce", "true"}}, usual});
    all.push_back({"plexus-3d", {{"blocks", "4"}, {"trainable_features", "true"}}, usual});
    for (const auto& [x, y, z] : {std::array{256, 1, 1}, {1, 256, 1}, {1, 1, 256}, {4, 8, 8}, {16, 4, 4}})
        all.push_back({"plexus-3d", plexus_grid(x, y, z), {256}});
    for (const auto& [x, y, z] : {std::array{1024, 1, 1}, {8, 8, 16}, {2, 32, 16}})
        all.push_back({"plexus-3d", plexus_grid(x, y, z), {1024}});
    for (const auto& [x, y, z] : {std::array{1, 1, 2048}, {8, 16, 16}, {64, 4, 8}})
        all.push_back({"plexus-3d", plexus_grid(x, y, z), {2048}});
    // As many broadcasts as ranks, in each product of each rank: last, because they take minutes.
    for (const char* name : {"mg-gcn", "cagnet-1d"}) all.push_back({name, {}, usual});
    return all;
}

/// Prints a line of CSV for each.
void compare_at_scale(const std::vector<AtScale>& schemes, const graphs::NamedGraph& graph) {
    std::printf("scheme,ranks,ranks_that_differ,seconds,skipped\n");
    for (const AtScale& a : schemes) {
        const StrategyVariant s = variants(a.scheme, a.set).front();
        std::string label = a.scheme;
        for (const auto& [parameter, given] : a.set) label += ' ' + parameter + '=' + given;
        for (const int ranks : a.ranks) {
            const auto start = std::chrono::steady_clock::now();
            const SimulatedOutcome out = simulate(s, {.name = "gcn"}, graph, ranks, {.epochs = 1});
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            std::printf("\"%s\",%d,%zu,%.1f,\"%s\"\n", label.c_str(), ranks, out.differences.size(), took.count(),
                        out.skipped.c_str());
            std::fflush(stdout);
            for (const std::string& d : out.differences) FAIL_CHECK(d);
            if (out.skipped.empty()) CHECK(out.epochs_s.size() == static_cast<std::size_t>(ranks));
        }
    }
}

// By hand: contract_simulated "[scale]". Its output is results/simulation/stated-at-scale.csv.
TEST_CASE("every scheme counts what it states at 256 to 2,048 ranks", "[.scale]") {
    compare_at_scale(schemes_at_scale(), drawn(9000, 6, true));
}

TEST_CASE("some schemes count what they state at 1,000 ranks and more") {
    compare_at_scale({{"cagnet-3d", {}, {1000}},
                      {"sa-1d", {}, {1024}},
                      {"plexus-3d", plexus_grid(8, 8, 16), {1024}},
                      {"plexus-3d", plexus_grid(8, 16, 16), {2048}}},
                     drawn(4000, 4, true));
}

}  // namespace
}  // namespace gnnbench::contract
