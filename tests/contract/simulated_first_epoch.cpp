// An epoch has nothing of what came before it: neither set-up's work nor an evaluation's. On simulated devices, which
// work asynchronously and whose time is exact, the same epoch three times over is the same operations in the same time.
#include <catch2/catch.hpp>

#include <map>

#include "contract/simulated_case.hpp"
#include "contract/strategy_selection.hpp"

namespace gnnbench::contract {
namespace {

/// The same epoch after set-up, after itself, and after an evaluation.
void check(const StrategyVariant& s, const ModelVariant& v, const graphs::NamedGraph& g, int ranks,
           std::map<std::string, int>& ran) {
    // Ways to multiply that are timed in the first epochs are work of theirs, which the scheme's page says.
    if (s.changed.find("gemm_tuning=true") != std::string::npos) return;
    const Simulated how{.epochs = 3, .always_epoch_0 = true};
    const SimulatedOutcome once = simulate(s, v, g, ranks, how);
    if (!once.skipped.empty()) return;
    Simulated evaluated = how;
    evaluated.evaluates_between = true;
    const SimulatedOutcome between = simulate(s, v, g, ranks, evaluated);
    ++ran[s.name];
    for (std::size_t r = 0; r < once.of_rank.size(); ++r) {
        const EpochSeen& usual = once.of_rank[r].at(1);
        for (const SimulatedOutcome* out : {&once, &between})
            for (std::size_t e = 0; e < out->of_rank[r].size(); ++e) {
                const EpochSeen& found = out->of_rank[r][e];
                INFO(s.name << " " << s.changed << ", " << v.name << ", rank " << r << " of " << ranks
                            << ", epoch " << e << (out == &between ? " between evaluations" : ""));
                CHECK(found.operations == usual.operations);
                CHECK(difference(usual.volume, found.volume) == "");
                CHECK(found.allocations == usual.allocations);
                CHECK(found.wall_s == Approx(usual.wall_s).epsilon(1e-9));
            }
    }
}

}  // namespace

TEST_CASE("under simulation the first epoch has what the next one has, and nothing of set-up or evaluation") {
    ModelVariant aggregated{.name = "aggregated input", .widths = {60, 5, 3}};
    aggregated.model.aggregate_input = true;
    ModelVariant both = aggregated;  // [X, ÂX], dropped out
    both.model.kind = LayerKind::sage;
    both.model.normalisation = Normalisation::mean;
    both.model.self_loops = false;
    both.train.input_dropout = 0.5;
    ModelVariant plain{.name = "gcn", .widths = {60, 5, 3}};
    const auto graph = drawn(311, 6, false);
    const int rank_counts[] = {1, 4, 8};
    std::map<std::string, int> ran;
    std::size_t place = 0;
    for (const std::string& name : catalog().names(PluginKind::strategy))
        for (const StrategyVariant& s : variants(name)) {
            // Variants other than the defaults have one number of ranks for each model.
            const bool all = s.changed.empty() || every_case();
            std::size_t of_variant = place++;
            for (const ModelVariant* v : {&plain, &aggregated, &both}) {
                const int in_turn = rank_counts[of_variant++ % 3];
                for (const int ranks : rank_counts)
                    if (all || ranks == in_turn) check(s, *v, graph, ranks, ran);
            }
        }
    for (const std::string& name : catalog().names(PluginKind::strategy)) {
        INFO(name << " ran at no rank count");
        CHECK((ran[name] > 0 || name.starts_with("gossip")));
    }
}

}  // namespace gnnbench::contract
