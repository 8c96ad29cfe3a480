#include "partitioning/over_ranks.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "data/fill.hpp"
#include "data/store.hpp"
#include "graphs.hpp"
#include "partitioning/measured.hpp"
#include "run/partition_run.hpp"

namespace gnnbench::bench {
namespace {

constexpr double limit_s = 3000;

/// Ranks read their rows of a store.
class Stored {
public:
    explicit Stored(const PartitioningCase& c) : folder_("over-ranks") {
        RawDataset raw;
        raw.name = "case";
        raw.graph.indptr = c.graph.indptr;
        raw.graph.indices = c.graph.indices;
        raw.graph.listed_edges = std::ssize(raw.graph.indices);
        fill_missing(raw, {.features = 1, .classes = 2});
        write_store(path(), raw);
    }
    std::filesystem::path path() const { return folder_.path() / "case"; }

private:
    TemporaryFolder folder_;
};

Measured over_ranks(const PluginCatalog& catalog, const std::string& name, const PartitioningCase& c,
                    const Stored& stored, int ranks, int seed, double imbalance) {
    const auto partitioner = catalog.partitioner(name);
    Params params(catalog.find(PluginKind::partitioner, name).params);
    for (const ParamDecl& d : catalog.find(PluginKind::partitioner, name).params) {
        if (std::string_view(d.name) == "imbalance") params.set(d, fmt::format("{}", imbalance));
        if (std::string_view(d.name) == "weights") params.set(d, "nonzeros");
    }
    const Store store = Store::open(stored.path());
    const DatasetView data = store.view();
    const PartitionTask task{.dataset = data,
                             .model = {},
                             .need = {.parts = c.parts},
                             .params = params,
                             .seed = static_cast<std::uint64_t>(seed)};
    const PartitionRun run = run_distributed(name, *partitioner, task, stored.path(), ranks, limit_s);
    if (!run.skipped.empty()) throw Unsupported(name + ": " + run.skipped);
    Measured m{.wall_s = run.wall_s, .peak_bytes = run.peak_bytes};
    judge(m, c, run.partition);
    return m;
}

}  // namespace

std::string over_ranks_table(const PluginCatalog& catalog, double scale, const std::vector<int>& ranks, int seeds,
                             double imbalance, const std::string& only) {
    const std::string room = fmt::format("{}", imbalance);
    std::vector<std::string> names{"distributed-hypergraph"};
    const auto all = catalog.names(PluginKind::partitioner);
    if (std::ranges::find(all, "ptscotch") != all.end()) names.emplace_back("ptscotch");
    std::string text =
        "| graph | entries | partitioner | ranks | volume | ÷ hypergraph | ÷ METIS | imbalance | wall s | peak of "
        "a rank "
        "÷ its share of the graph |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const PartitioningCase& c : partitioning_cases(scale)) {
        if (c.parts != 64 || (c.name != "grid" && c.name != "communities" && c.name != "power law")) continue;
        if (c.name.find(only) == std::string::npos) continue;
        const Stored stored(c);
        std::vector<Measured> cuts, serial;
        std::vector<std::vector<Measured>> runs(names.size() * ranks.size());
        for (int seed = 1; seed <= seeds; ++seed) {  // in turn, so that a busy machine slows all
            cuts.push_back(measure(catalog, "metis", c, seed, {{"weights", "nonzeros"}, {"imbalance", room}}));
            serial.push_back(measure(catalog, "hypergraph", c, seed, {{"imbalance", room}}));
            for (std::size_t i = 0; i < runs.size(); ++i)
                runs[i].push_back(over_ranks(catalog, names[i / ranks.size()], c, stored, ranks[i % ranks.size()],
                                             seed, imbalance));
        }
        const Measured cut = summary(cuts), own = summary(serial);
        const auto add = [&](const std::string& name, int of_ranks, const Measured& m) {
            const std::string row =
                fmt::format("| {} | {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.1f} | {:.1f} |\n", c.name,
                            c.graph.nonzeros(), name, of_ranks, m.volume, ratio(m.volume, own.volume),
                            ratio(m.volume, cut.volume), m.imbalance, m.wall_s,
                            static_cast<double>(m.peak_bytes) * of_ranks / graph_bytes(c));
            std::fputs(row.c_str(), stderr);
            text += row;
        };
        add("metis", 1, cut);
        add("hypergraph", 1, own);
        for (std::size_t i = 0; i < runs.size(); ++i)
            add(names[i / ranks.size()], ranks[i % ranks.size()], summary(runs[i]));
    }
    return text;
}

std::string largest_over_ranks(const PluginCatalog& catalog, double millions, const std::vector<int>& ranks,
                               double imbalance, const std::string& only) {
    std::string text =
        "| graph | vertices | entries | ranks | volume | imbalance | wall s | peak of a rank, MiB | ÷ its share "
        "of "
        "the graph |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    const auto of_degree = [&](int degree) { return static_cast<std::int64_t>(millions * 1e6 / degree); };
    for (const auto& make : std::vector<std::function<PartitioningCase()>>{
             [&] { return grid_case(of_degree(5), 64); },
             [&] { return communities_case(of_degree(16), 64, true); },
             [&] { return communities_case(of_degree(16), 64, false); }}) {
        const PartitioningCase c = make();
        if (c.name.find(only) == std::string::npos) continue;
        const Stored stored(c);
        for (const int r : ranks) {
            const Measured m = over_ranks(catalog, "distributed-hypergraph", c, stored, r, 1, imbalance);
            const std::string row = fmt::format("| {} | {} | {} | {} | {} | {:.3f} | {:.0f} | {:.0f} | {:.1f} |\n",
                                                c.name, c.graph.rows, c.graph.nonzeros(), r, m.volume, m.imbalance,
                                                m.wall_s, static_cast<double>(m.peak_bytes) / (1 << 20),
                                                static_cast<double>(m.peak_bytes) * r / graph_bytes(c));
            std::fputs(row.c_str(), stderr);
            text += row;
        }
    }
    return text;
}

}  // namespace gnnbench::bench
