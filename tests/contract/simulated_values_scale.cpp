// Every exact scheme with real values on 64 and 512 simulated ranks, which no test machine has, beside the serial reference.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "contract/at_scale.hpp"
#include "contract/strategy_selection.hpp"
#include "contract/virtual_training.hpp"

namespace gnnbench::contract {
namespace {

/// Every exact scheme in its forms. Of 512 ranks no grid is square, so cagnet-2d has one of 16 × 32 besides.
std::vector<AtScale> exact_schemes() {
    const std::vector<int> both{64, 512};
    std::vector<AtScale> all;
    for (const char* name : {"sa-1d", "demirci-p2p", "bns-gcn", "cagnet-3d", "plexus-3d", "cagnet-2d",
                             "cagnet-1.5d", "sa-1.5d", "mg-gcn", "cagnet-1d"})
        all.push_back({name, {}, both});
    all.push_back({"bns-gcn", {{"overlap", "true"}}, both});
    all.push_back({"pipegcn", {{"staleness", "0"}}, both});
    all.push_back({"distgnn", {{"algorithm", "cd-0"}}, both});
    all.push_back({"sancus", {{"interval", "1"}}, both});
    all.push_back({"cagnet-1d", {{"backward", "outer_product"}}, {64}});
    all.push_back({"mg-gcn", {{"tiling", "column"}}, {64}});
    all.push_back({"cagnet-3d", {{"fibre", "all_reduce"}}, both});
    for (const char* name : {"cagnet-2d", "cagnet-3d"}) all.push_back({name, {{"travel", "true"}}, both});
    all.push_back({"plexus-3d", {{"blocks", "4"}, {"sparse_all_reduce", "true"}}, both});
    for (const auto& [x, y, z] : {std::array{64, 1, 1}, {1, 64, 1}, {1, 1, 64}, {2, 4, 8}})
        all.push_back({"plexus-3d", plexus_grid(x, y, z), {64}});
    for (const auto& [x, y, z] : {std::array{512, 1, 1}, {1, 512, 1}, {1, 1, 512}, {8, 8, 8}, {4, 8, 16}})
        all.push_back({"plexus-3d", plexus_grid(x, y, z), {512}});
    return all;
}

/// The cases, each with its errors as a line of CSV. How many ran.
int compare_at_scale(const std::vector<AtScale>& schemes, const graphs::NamedGraph& graph, int most_ranks,
                     const std::vector<DType>& dtypes) {
    std::printf("scheme,ranks,precision,loss_error,gradient_error,allowed,seconds,skipped\n");
    int ran = 0;
    for (const AtScale& a : schemes)
        for (const int ranks : a.ranks)
            for (const DType dtype : dtypes) {
                if (ranks > most_ranks) continue;
                std::string label = a.scheme;
                for (const auto& [parameter, given] : a.set) label += ' ' + parameter + '=' + given;
                const auto start = std::chrono::steady_clock::now();
                const auto c = training_case(variants(a.scheme, a.set).front(), "random",
                                             {.name = "gcn", .widths = {24, 16, 8}}, graph, ranks);
                const std::vector<Outcome> of_rank = train_in_virtual_time(*c, {.dtype = dtype, .epochs = 3});
                const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
                const Outcome& first = of_rank.front();
                const Agreement& agreed = first.agreement;
                std::printf("\"%s\",%d,%s,%.1e,%.1e,%.0e,%.1f,\"%s\"\n", label.c_str(), ranks,
                            dtype == DType::f32 ? "float32" : "float64", agreed.loss_error, agreed.gradient_error,
                            agreed.tolerance, took.count(), first.skipped.c_str());
                std::fflush(stdout);
                INFO(label << " on " << ranks << " simulated ranks");
                CHECK(first.skipped == "");
                if (!first.skipped.empty()) continue;
                ++ran;
                CHECK(first.approximation == "");
                CHECK(agreed.holds());
                const bool copies_agree = std::ranges::all_of(
                    of_rank, [](const Outcome& o) { return o.replicas.within(o.agreement.tolerance); });
                CHECK(copies_agree);
                for (const Outcome& o : of_rank) {
                    if (!o.evaluation_problem.empty()) FAIL_CHECK(o.evaluation_problem);
                    if (!o.volume_difference.empty()) FAIL_CHECK(o.volume_difference);
                    if (o.allocations_in_epochs != 0) FAIL_CHECK("epochs allocate");
                }
            }
    return ran;
}

TEST_CASE("with values every exact scheme agrees with the serial reference at 64 ranks, and some do at 512") {
    const auto graph = drawn(every_case() ? 2000 : 1000, 8, false);
    CHECK(compare_at_scale(exact_schemes(), graph, 64, {DType::f64}) > 20);
    CHECK(compare_at_scale({{"cagnet-3d", {}, {512}}, {"plexus-3d", plexus_grid(8, 8, 8), {512}}}, graph, 512,
                           {DType::f32, DType::f64}) == 4);
}

// By hand, or ./dev nightly ranks: contract_simulated_values "[scale]". Its output is in results/verification-at-scale.md.
TEST_CASE("with values every exact scheme agrees with the serial reference at 64 and 512 ranks", "[.scale]") {
    CHECK(compare_at_scale(exact_schemes(), drawn(4000, 8, false), 512, {DType::f32, DType::f64}) > 60);
}

}  // namespace
}  // namespace gnnbench::contract
