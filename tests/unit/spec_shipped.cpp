// The experiments that come with the program mean what they say.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "spec/cell.hpp"
#include "spec/experiment.hpp"
#include "spec/installed.hpp"
#include "spec/plan.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

const fs::path experiments = fs::path(GNNBENCH_SOURCE_DIR) / "experiments";

struct Shipped {
    InstalledPlugins plugins;
    InstalledDatasets datasets{Catalog("/nowhere")};

    /// Plugins are built apart from this test.
    bool has(const std::vector<std::string>& schemes) const {
        for (const std::string& s : schemes)
            if (!plugins.find(PluginKind::strategy, s)) return false;
        return plugins.find(PluginKind::partitioner, "metis") && plugins.find(PluginKind::kernel, "cpu");
    }
    Experiment load(const char* file) const {
        return load_experiment(experiments / file, {{}, 2, 1}, plugins, datasets);
    }
    /// Cells by verdict, after the plugins' own reasons.
    std::map<Verdict, int> verdicts(const Experiment& e, const DatasetFacts& facts) const {
        const PlanSources sources{plugins, [&](const DatasetChoice&) { return facts; },
                                  [](const std::string&) { return Stored{}; }};
        std::map<Verdict, int> counts;
        for (const PlannedCell& c : make_plan(e, sources, {}, 2).cells) ++counts[c.verdict];
        return counts;
    }
};

}  // namespace

TEST_CASE("quickstart is eleven cells to run and four that make no sense") {
    const Shipped shipped;
    if (!shipped.has({"serial", "cagnet-1d", "mg-gcn"})) {
        WARN("skipped: its plugins are not built");
        return;
    }
    const Experiment e = shipped.load("quickstart.yaml");
    CHECK(e.name == "quickstart");
    CHECK(e.combinations == 18);
    CHECK(e.cells.size() == 15);
    CHECK(e.trials == 3);
    auto counts = shipped.verdicts(e, {{20000, 800000, false}, 64, 8});
    CHECK(counts[Verdict::run] == 11);
    CHECK(counts[Verdict::skipped] == 4);
}

TEST_CASE("cora is the classic recipe over ten seeds") {
    const Shipped shipped;
    const char* data = std::getenv("GNNBENCH_SHARED_DATA");
    const auto formats = shipped.datasets.formats();
    const bool planetoid =
        std::any_of(formats.begin(), formats.end(), [](const auto& f) { return f.name == "planetoid"; });
    if (!data || !fs::exists(fs::path(data) / "planetoid-cora") || !planetoid ||
        !shipped.has({"serial", "cagnet-1d", "mg-gcn"})) {
        WARN("skipped: Cora's files, its importer or the plugins are not there");
        return;
    }
    const Experiment e = shipped.load("cora.yaml");
    auto counts = shipped.verdicts(e, {{2708, 10556, false}, 1433, 7});
    CHECK(counts[Verdict::run] == 10 * (3 + 2 * 2 * 2));
    CHECK(counts[Verdict::skipped] == 10 * 2 * 2);
    for (const Cell& c : e.cells) {
        CHECK(c.train.input_dropout == 0.5);
        CHECK(c.train.weight_decay == std::vector<double>{5e-4, 0});
        CHECK(c.model.feature_normalisation == FeatureNormalisation::row);
        CHECK(c.epochs + c.warmup == 200);
    }
}

TEST_CASE(
    "the papers' experiments say what the papers' programs do: Plexus trains the features, METIS balances "
    "nonzeros") {
    const Shipped shipped;
    if (!shipped.has({"serial", "cagnet-1d", "demirci-p2p", "plexus-3d", "sa-1d", "bns-gcn"})) {
        WARN("skipped: its plugins are not built");
        return;
    }
    for (const char* file : {"demirci/partitioners.yaml", "demirci/reddit.yaml"})
        for (const Cell& c : shipped.load(file).cells) {
            if (c.partitioner.name != "metis") continue;
            INFO(file << ": " << c.scheme.name);
            CHECK(c.partitioner.params.choice("weights") == "nonzeros");
            CHECK(c.partitioner.params.real("imbalance") == 0.01);
        }
    std::map<std::pair<std::string, bool>, int> cells;
    for (const Cell& c : shipped.load("plexus/scaling.yaml").cells)
        ++cells[{c.scheme.name, c.scheme.name == "plexus-3d" && c.scheme.params.boolean("trainable_features")}];
    CHECK(cells[{"plexus-3d", true}] > 0);
    // The same model as its rivals', whose features are fixed, wherever they run.
    CHECK(cells[{"plexus-3d", false}] > 0);
    // BNS-GCN as released, with ÂX of set-up, and as the others are.
    CHECK(2 * cells[{"plexus-3d", false}] == cells[{"bns-gcn", false}]);
    for (const char* file : {"plexus/grids.yaml", "plexus/aggregation.yaml", "plexus/validation.yaml"})
        for (const Cell& c : shipped.load(file).cells) {
            INFO(file);
            CHECK(c.scheme.params.boolean("trainable_features"));
        }
}

TEST_CASE("MG-GCN's experiments run the paper's arithmetic, and the exact one on some of the same cells") {
    const Shipped shipped;
    if (!shipped.has({"cagnet-1d", "mg-gcn"})) {
        WARN("skipped: its plugins are not built");
        return;
    }
    for (const char* file : {"mg-gcn/epochs.yaml", "mg-gcn/distgnn.yaml", "mg-gcn/degrees.yaml"}) {
        INFO(file);
        std::map<std::pair<std::string, int>, int> papers, exact;  // by dataset and gpus
        for (const Cell& c : shipped.load(file).cells)
            if (c.scheme.name == "mg-gcn")
                ++(c.scheme.params.boolean("gradient_shortcut") ? papers : exact)[{c.dataset.name, c.gpus}];
        CHECK_FALSE(exact.empty());
        CHECK(papers.size() > exact.size());
        for (const auto& [place, count] : exact) CHECK(papers.contains(place));
    }
    std::map<std::string, std::set<int>> gpus;
    for (const Cell& c : shipped.load("mg-gcn/epochs.yaml").cells) gpus[c.scheme.label].insert(c.gpus);
    for (const char* scheme : {"cagnet-1d", "mg-gcn", "mg-gcn(gradient_shortcut=true)"}) {
        INFO(scheme);
        CHECK((gpus[scheme].contains(1) && gpus[scheme].contains(8)));
    }
    for (const Cell& c : shipped.load("mg-gcn/timeline.yaml").cells)
        CHECK(c.scheme.params.boolean("gradient_shortcut"));
}

TEST_CASE("every cell of the papers' pages has at least three trials") {
    const Shipped shipped;
    if (!shipped.has({"serial", "cagnet-1d", "mg-gcn", "demirci-p2p", "plexus-3d", "sa-1d", "bns-gcn"})) {
        WARN("skipped: its plugins are not built");
        return;
    }
    for (const char* file :
         {"mg-gcn/epochs.yaml", "mg-gcn/distgnn.yaml", "mg-gcn/distgnn-rival.yaml", "mg-gcn/timeline.yaml",
          "gossip/datasets.yaml", "plexus/scaling.yaml", "plexus/grids.yaml", "plexus/aggregation.yaml",
          "plexus/validation.yaml", "plexus/balance.yaml", "demirci/partitioners.yaml", "demirci/depth.yaml",
          "demirci/reddit.yaml"}) {
        INFO(file);
        CHECK(shipped.load(file).trials >= 3);
    }
    // Of Figure 9 the sample is the graph: ten of each, in one trial.
    std::map<std::pair<std::string, int>, std::set<std::string>> seeds;  // by dataset and gpus
    for (const Cell& c : shipped.load("mg-gcn/degrees.yaml").cells)
        if (c.scheme.params.boolean("gradient_shortcut"))
            seeds[{c.dataset.name, c.gpus}].insert((*c.dataset.source)["seed"].dump());
    CHECK(seeds.size() == 4 * 4);
    for (const auto& [place, all] : seeds) CHECK(all.size() == 10);
}
