// bench_partitioning: connectivity−1 and time of the hypergraph partitioner beside METIS, on the same graphs with the
// same vertex weights and imbalance. Goals are this project's; --mtkahypar adds the numbers of PyPI's mtkahypar.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "plugin/loader.hpp"

#include "partitioning/cases.hpp"
#include "partitioning/mtkahypar.hpp"

namespace gnnbench::bench {
namespace {

double wall_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Measured {
    std::int64_t volume = 0;  ///< median over seeds
    double seconds = 0;       ///< median over seeds
    double imbalance = 0;     ///< the worst, of nonzeros with the diagonal
};

/// Heaviest part ÷ mean part − 1 in entries of rows, each with its diagonal.
double imbalance_of(const GraphView& graph, const Partition& p) {
    std::vector<double> load(usize(p.parts));
    double total = 0;
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        const auto row = graph.indices.subspan(usize(graph.indptr[usize(v)]),
                                               usize(graph.indptr[usize(v) + 1] - graph.indptr[usize(v)]));
        const bool diagonal = std::binary_search(row.begin(), row.end(), static_cast<std::int32_t>(v));
        const double weight = static_cast<double>(row.size()) + (diagonal ? 0 : 1);
        load[usize(p.part_of[usize(v)])] += weight, total += weight;
    }
    return *std::max_element(load.begin(), load.end()) * p.parts / total - 1;
}

Measured measure(const PluginCatalog& catalog, const std::string& name, const PartitioningCase& c, int seeds,
                 const std::vector<std::pair<std::string, std::string>>& settings) {
    const auto partitioner = catalog.partitioner(name);
    const auto declared = catalog.find(PluginKind::partitioner, name).params;
    Params params(declared);
    for (const auto& [key, value] : settings)
        for (const ParamDecl& d : declared)
            if (key == d.name) params.set(d, value);
    const DatasetView data{.name = c.name, .graph = c.view(), .features = {}, .labels = {}, .split = {}};
    std::vector<double> volumes, seconds;
    Measured m;
    for (int seed = 1; seed <= seeds; ++seed) {
        const double begin = wall_s();
        const Partition p = partitioner->partition({.dataset = data,
                                                    .model = {},
                                                    .need = {.parts = c.parts},
                                                    .params = params,
                                                    .seed = static_cast<std::uint64_t>(seed)});
        seconds.push_back(wall_s() - begin);
        volumes.push_back(static_cast<double>(measure_quality(c.view(), p).connectivity_minus_one));
        m.imbalance = std::max(m.imbalance, imbalance_of(c.view(), p));
    }
    m.volume = static_cast<std::int64_t>(median(volumes));
    m.seconds = median(seconds);
    return m;
}

std::string goal_text(double ratio, double goal) {
    return goal == 0 ? "–" : fmt::format("≤ {:.3f} {}", goal, ratio <= goal ? "met" : "missed");
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench;
    using namespace gnnbench::bench;
    double scale = 1, imbalance = 0.03;
    int seeds = 3;
    std::string output, python, only;
    CLI::App app{"volume and time of partitioners on the same graphs, weights and imbalance"};
    app.add_option("--scale", scale, "size of the graphs, 1: 90,000 to 200,000 vertices")
        ->check(CLI::Range(0.001, 10.0));
    app.add_option("--seeds", seeds, "runs of each; medians are shown")->check(CLI::Range(1, 99));
    app.add_option("--imbalance", imbalance, "of all partitioners")->check(CLI::Range(0.001, 1.0));
    app.add_option("--only", only, "cases whose name contains this");
    app.add_option("--mtkahypar", python, "a Python with PyPI's mtkahypar: its default preset in the same run");
    app.add_option("--output", output, "also write the table to this file");
    CLI11_PARSE(app, argc, argv);

    const PluginCatalog catalog;
    std::string text =
        "| graph | parts | METIS cut | s | METIS volume | hypergraph | s | imbalance | ÷ METIS cut | goal | × its "
        "time |"
        " Mt-KaHyPar | s |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    bool sound = true;
    try {
        for (const PartitioningCase& c : partitioning_cases(scale)) {
            if (c.label().find(only) == std::string::npos) continue;
            const std::string room = fmt::format("{}", imbalance);
            const Measured cut =
                measure(catalog, "metis", c, seeds, {{"weights", "nonzeros"}, {"imbalance", room}});
            // METIS' volume objective takes minutes, or fails, on power laws in many parts.
            const bool try_volume = c.name == "grid" || c.parts <= 8;
            const std::string volume =
                try_volume
                    ? fmt::format("{}",
                                  measure(catalog, "metis", c, 1,
                                          {{"weights", "nonzeros"}, {"imbalance", room}, {"objective", "volume"}})
                                      .volume)
                    : "–";
            const Measured own = measure(catalog, "hypergraph", c, seeds, {{"imbalance", room}});
            const std::optional<OtherResult> other = run_mtkahypar(python, c, imbalance, seeds);
            const double ratio =
                static_cast<double>(own.volume) / static_cast<double>(std::max<std::int64_t>(1, cut.volume));
            sound = sound && own.imbalance <= imbalance + c.parts / static_cast<double>(c.graph.indices.size());
            const std::string row = fmt::format(
                "| {} | {} | {} | {:.2f} | {} | {} | {:.2f} | {:.3f} | {:.3f} | {} | {:.1f} | {} | {} |\n", c.name,
                c.parts, cut.volume, cut.seconds, volume, own.volume, own.seconds, own.imbalance, ratio,
                scale == 1 ? goal_text(ratio, c.goal) : "–", own.seconds / std::max(cut.seconds, 1e-9),
                other ? fmt::format("{}", other->volume) : "–",
                other ? fmt::format("{:.1f}", other->seconds) : "–");
            std::fputs(row.c_str(), stderr);
            text += row;
        }
    } catch (const Error& e) {
        std::fprintf(stderr, "bench_partitioning: %s\n", e.what());
        return 2;
    }
    std::fputs(text.c_str(), stdout);
    if (!output.empty()) std::ofstream(output) << text;
    if (!sound) std::fputs("bench_partitioning: a part is heavier than the imbalance allows\n", stderr);
    return sound ? 0 : 1;
}
