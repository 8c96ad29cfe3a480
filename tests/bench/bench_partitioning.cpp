// bench_partitioning: connectivity−1 and time of the hypergraph partitioner beside METIS, on the same graphs with the
// same vertex weights and imbalance. Goals are this project's; --mtkahypar and --kaminpar add a table of PyPI's.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>

#include "command_line/command_line.hpp"
#include "plugin/loader.hpp"

#include "partitioning/cases.hpp"
#include "partitioning/measured.hpp"
#include "partitioning/over_ranks.hpp"
#include "partitioning/peers.hpp"
#include "partitioning/peers_table.hpp"
#include "partitioning/scaling.hpp"

namespace gnnbench::bench {
namespace {

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
    std::string output, mtkahypar, kaminpar, only, preset = "default";
    std::vector<double> edges;
    std::vector<int> ranks;
    double largest = 0;
    Part parts = 64;
    CommandLine app{"volume and time of partitioners on the same graphs, weights and imbalance"};
    app.add("--scale", scale, "size of the graphs, 1: 90,000 to 200,000 vertices").within(0.001, 10.0);
    app.add("--seeds", seeds, "runs of each; medians are shown").within(1, 99);
    app.add("--imbalance", imbalance, "of all partitioners").within(0.001, 1.0);
    app.add("--only", only, "cases whose name contains this");
    app.add("--preset", preset, "of hypergraph, and of the others beside it").one_of({"default", "quality"});
    app.add("--mtkahypar", mtkahypar, "a Python with PyPI's mtkahypar, which then runs beside");
    app.add("--kaminpar", kaminpar, "a Python with PyPI's kaminpar, which then runs beside");
    app.add("--scaling", edges, "instead: time and memory of graphs of so many million entries")
        .within(0.01, 500.0);
    app.add("--parts", parts, "for --scaling").within(2, 100000);
    app.add("--ranks", ranks, "instead: partitioners over so many ranks, several numbers to compare")
        .within(1, 64);
    app.add("--largest", largest, "with --ranks: graphs of about so many million entries").within(0.01, 2000.0);
    app.add("--output", output, "also write the table to this file");
    if (const auto code = app.parse(argc, argv)) return *code;

    const PluginCatalog catalog;
    std::string text =
        "| graph | parts | METIS cut | CPU s | METIS volume | hypergraph | CPU s | imbalance | peak ÷ graph | "
        "÷ METIS cut | goal | × its CPU time |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    PeersTable beside;
    if (!mtkahypar.empty()) beside.add({"mtkahypar", "Mt-KaHyPar", mtkahypar});
    if (!kaminpar.empty()) beside.add({"kaminpar", "KaMinPar", kaminpar});
    bool sound = true;
    try {
        if (!edges.empty()) text = scaling_table(catalog, edges, parts, imbalance);
        if (!ranks.empty())
            text = largest > 0 ? largest_over_ranks(catalog, largest, ranks, imbalance, only)
                               : over_ranks_table(catalog, scale, ranks, seeds, imbalance, only);
        for (const PartitioningCase& c : partitioning_cases(scale)) {
            if (!edges.empty() || !ranks.empty() || c.label().find(only) == std::string::npos) continue;
            const std::string room = fmt::format("{}", imbalance);
            std::vector<Measured> cuts, owns;
            for (int seed = 1; seed <= seeds; ++seed) {  // in turn, so that a busy machine slows both
                cuts.push_back(measure(catalog, "metis", c, seed, {{"weights", "nonzeros"}, {"imbalance", room}}));
                owns.push_back(measure(catalog, "hypergraph", c, seed, {{"imbalance", room}, {"preset", preset}}));
                beside.measure(c, imbalance, seed, preset);
            }
            const Measured cut = summary(cuts), own = summary(owns);
            // METIS' volume objective takes minutes, or fails, on power laws in many parts.
            const bool try_volume = c.name == "grid" || c.parts <= 8;
            const std::string volume =
                try_volume
                    ? fmt::format("{}",
                                  measure(catalog, "metis", c, 1,
                                          {{"weights", "nonzeros"}, {"imbalance", room}, {"objective", "volume"}})
                                      .volume)
                    : "–";
            const double ratio =
                static_cast<double>(own.volume) / static_cast<double>(std::max<std::int64_t>(1, cut.volume));
            sound = sound && own.imbalance <= imbalance + c.parts / static_cast<double>(c.graph.indices.size());
            const std::string row = fmt::format(
                "| {} | {} | {} | {:.2f} | {} | {} | {:.2f} | {:.3f} | {:.1f} | {:.3f} | {} | {:.1f} |\n", c.name,
                c.parts, cut.volume, cut.cpu_s, volume, own.volume, own.cpu_s, own.imbalance,
                static_cast<double>(own.peak_bytes) / graph_bytes(c), ratio,
                scale == 1 ? goal_text(ratio, c.goal) : "–", own.cpu_s / std::max(cut.cpu_s, 1e-9));
            std::fputs(row.c_str(), stderr);
            text += row;
            beside.end_case(c, cut, own);
        }
    } catch (const Error& e) {
        std::fprintf(stderr, "bench_partitioning: %s\n", e.what());
        return 2;
    }
    text += beside.text();
    std::fputs(text.c_str(), stdout);
    if (!output.empty()) std::ofstream(output) << text;
    if (!sound) std::fputs("bench_partitioning: a part is heavier than the imbalance allows\n", stderr);
    return sound ? 0 : 1;
}
