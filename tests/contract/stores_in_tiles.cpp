// Stores in tiles: training on them gives what whole rows give, to the bit, and ranks of a grid read the tiles of their own
// columns and no row.
#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "contract/not_here.hpp"
#include "contract/strategy_case.hpp"
#include "contract/strategy_selection.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

/// Directed, 40 vertices, without self-loops.
graphs::NamedGraph in_unreadable_rows(std::int64_t down, std::int64_t across) {
    graphs::Entries entries;
    for (std::int32_t v = 0; v < 40; ++v)
        for (const std::int32_t u : {(v * 7 + 3) % 40, (v * 11 + 5) % 40, (v * v + 1) % 40})
            if (u != v) entries.emplace_back(v, u);
    auto g = graphs::in_tiles(graphs::from_entries("without self-loops", 40, entries), down, across);
    g.rows_unreadable = true;
    return g;
}

/// demirci-p2p adds blocks in the order in which they arrive (Algorithm 1, line 7), and plexus-3d may choose the form of a product
/// by timing it: no two runs need have the same bits, of the former on more than two ranks.
bool adds_in_one_order(const StrategyVariant& s) {
    if (s.changed.find("gemm_tuning=true") != std::string::npos) return false;
    return s.name != "demirci-p2p" || mpi_world().size() <= 2;
}

/// Trains on the graph as it is, and in tiles that no number of ranks divides.
void compare_with_tiles(const StrategyVariant& s, const std::string& partitioner, const KernelVariant& k,
                        const graphs::NamedGraph& g, int& compared) {
    const Outcome whole = run(s, partitioner, k, {.name = "default"}, g);
    if (!whole.skipped.empty()) return;
    for (const auto& [down, across] : {std::pair{3, 5}, {7, 2}}) {
        const Outcome tiled = run(s, partitioner, k, {.name = "default"}, graphs::in_tiles(g, down, across));
        INFO(s.name << " " << s.changed << ", " << partitioner << ", kernel " << k.name << ", " << g.name << " in "
                    << down << " x " << across << " tiles");
        REQUIRE(tiled.skipped == "");
        CHECK(tiled.volume_difference == "");
        CHECK((tiled.agreement.holds() || !tiled.approximation.empty()));
        if (!adds_in_one_order(s)) continue;
        REQUIRE(tiled.weights.matrices.size() == whole.weights.matrices.size());
        for (std::size_t m = 0; m < whole.weights.matrices.size(); ++m) {
            INFO("weights " << whole.weights.matrices[m].name);
            CHECK(tiled.weights.matrices[m].values.values == whole.weights.matrices[m].values.values);
        }
        ++compared;
    }
}

/// Under runs of vertices and without a permutation of its own a strategy may read tiles in place of rows.
std::vector<StrategyVariant> variants_on_runs(const std::string& name) {
    if (name == "plexus-3d") return variants(name, {{"permutation", "none"}});
    return variants(name);
}

}  // namespace

TEST_CASE("training on a store in tiles and on whole rows gives the same bits") {
    int compared = 0;
    auto place = static_cast<std::size_t>(mpi_world().size());  // elsewhere other cases
    // Such trainings are short: twice as many as of the other cases.
    const std::size_t stride = std::max<std::size_t>(1, one_case_in() / 2);
    for (const ListedPlugin& p : catalog().list()) {
        if (p.kind != PluginKind::strategy || !p.usable() || trains_on_batches(catalog(), p.name)) continue;
        auto all = variants_on_runs(p.name);
        if (!every_case()) all.resize(1);
        for (const StrategyVariant& s : all)
            for (const std::string partitioner : {"block", "random", "metis"})
                for (graphs::NamedGraph g : graphs::of_every_kind()) {
                    if (!every_case() && (partitioner != "block" || place++ % stride != 0)) continue;
                    // Stores of directed graphs have the transpose, in tiles or not.
                    if (!g.symmetric && g.transpose.indptr.empty()) g = graphs::with_transpose(std::move(g));
                    compare_with_tiles(s, partitioner, {"cpu", DType::f32}, g, compared);
                }
    }
    CHECK(compared >= 20);
}

TEST_CASE("on a grid that cuts rows and columns, ranks read tiles in place of rows") {
    if (mpi_world().size() != 8) return not_here("of a grid of 2 x 2 x 2, where no rank has all columns");
    const std::map<std::string, std::string> plexus{
        {"grid", "given"}, {"x", "2"}, {"y", "2"}, {"z", "2"}, {"permutation", "none"}};
    for (const auto& [name, set] : {std::pair{"plexus-3d", plexus}, {"cagnet-3d", {}}})
        for (const auto& [down, across] : {std::pair{4, 4}, {3, 8}}) {
            const StrategyVariant s = variants(name, set).front();
            const Outcome o =
                run(s, "block", {"reference", DType::f64}, {.name = "default"}, in_unreadable_rows(down, across));
            INFO(name << " on " << down << " x " << across << " tiles: loss error " << o.agreement.loss_error
                      << ", gradient error " << o.agreement.gradient_error << " at " << o.agreement.worst);
            REQUIRE(o.skipped == "");
            CHECK(o.agreement.holds());
            CHECK(o.volume_difference == "");
        }
}
