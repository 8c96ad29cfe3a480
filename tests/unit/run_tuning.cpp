#include <set>

#include <catch2/catch.hpp>

#include <gnnbench/strategy.hpp>

#include "run/tuning.hpp"

using namespace gnnbench;

namespace {

/// Of a strategy's arrangements of that many ranks, those that it does not support for a model of GCN layers.
std::vector<std::string> unsupported(const Strategy& strategy, std::span<const ParamDecl> declared, int ranks) {
    ModelSpec model;
    model.widths = {64, 32, 16};
    const TrainSpec train;
    std::vector<std::string> out;
    for (const ParamTexts& arrangement : strategy.arrangements(ranks)) {
        Params params(declared);
        for (const auto& [name, value] : arrangement) {
            const auto at =
                std::ranges::find(declared, name, [](const ParamDecl& d) { return std::string(d.name); });
            if (at == declared.end())
                out.push_back("no parameter " + name);
            else
                params.set(*at, value);
        }
        if (arrangement.empty()) continue;
        if (const std::string why = strategy.why_unsupported({ranks, model, train, params}); !why.empty())
            out.push_back(why);
    }
    return out;
}

}  // namespace

TEST_CASE("tuning: every arrangement that a scheme names is one that it can train in, and they differ") {
    const InstalledPlugins plugins;
    std::set<std::string> arranged;
    for (const std::string& name : plugins.names(PluginKind::strategy))
        for (const int ranks : {1, 2, 6, 8, 9, 16, 36, 64}) {
            INFO(name << " on " << ranks);
            const Strategy& strategy = plugins.strategy(name);
            const auto all = strategy.arrangements(ranks);
            CHECK(!all.empty());
            CHECK(std::set(all.begin(), all.end()).size() == all.size());
            CHECK(unsupported(strategy, plugins.find(PluginKind::strategy, name)->params, ranks).empty());
            if (all.size() > 1) arranged.insert(name);
        }
    CHECK(arranged == std::set<std::string>{"cagnet-1.5d", "cagnet-2d", "plexus-3d", "sa-1.5d"});
    CHECK(plugins.strategy("plexus-3d").arrangements(64).size() == 28);  // 2^6 over three sizes: 8 choose 2
    CHECK(plugins.strategy("cagnet-2d").arrangements(36).size() == 9);
    CHECK(plugins.strategy("sa-1.5d").arrangements(16).size() == 3);  // 1, 2, 4
}
