#include "partitioning/scaling.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "graphs.hpp"
#include "partitioning/measured.hpp"

namespace gnnbench::bench {

std::string scaling_table(const PluginCatalog& catalog, const std::vector<double>& millions, int parts,
                          double imbalance) {
    std::string text = fmt::format(
        "| vertices | entries | graph, MiB | METIS cut in {0}, CPU s | hypergraph in {0}, CPU s | CPU s per "
        "million "
        "entries | × METIS' time | peak ÷ graph | ÷ METIS' cut |\n| --- | --- | --- | --- | --- | --- | --- | --- "
        "| --- |\n",
        parts);
    const std::string allowed = fmt::format("{}", imbalance);
    for (const double m : millions) {
        const auto vertices = static_cast<std::int64_t>(m * 1e6 / 16);
        const PartitioningCase c = communities_case(vertices, parts, false);
        const Measured cut = measure(catalog, "metis", c, 1, {{"weights", "nonzeros"}, {"imbalance", allowed}});
        const Measured own = measure(catalog, "hypergraph", c, 1, {{"imbalance", allowed}});
        const auto entries = static_cast<double>(c.graph.nonzeros());
        const double bytes = graph_bytes(c);
        const std::string row = fmt::format(
            "| {} | {} | {:.0f} | {:.2f} | {:.2f} | {:.2f} | {:.1f} | {:.1f} | {:.3f} |\n", vertices,
            c.graph.nonzeros(), bytes / (1 << 20), cut.cpu_s, own.cpu_s, own.cpu_s * 1e6 / entries,
            own.cpu_s / cut.cpu_s, static_cast<double>(own.peak_bytes) / bytes, ratio(own.volume, cut.volume));
        std::fputs(row.c_str(), stderr);
        text += row;
    }
    return text;
}

}  // namespace gnnbench::bench
