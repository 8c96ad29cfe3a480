// bench_batches: what partitions cost mini-batch training, counted on uniform batches that no partitioner has seen,
// beside the closed form of the expectation. (Demirci et al., Figure 5's inset, without training.)
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/batches/sampled.hpp>
#include <gnnbench/batches/subgraph.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/usize.hpp>

#include "data/store.hpp"
#include "graphs.hpp"
#include "command_line/command_line.hpp"
#include "partitioning/expected_volume.hpp"
#include "plugin/loader.hpp"

namespace gnnbench::bench {
namespace {

struct Settings {
    std::int64_t batch_vertices = 20000, batches = 20;
    std::uint64_t seed = 1;
};

/// One partitioner's partition.
struct Measured {
    double held_out = 0;  ///< rows that a batch moves in a forward product, mean
    double expected = 0;  ///< the closed form
    double seconds = 0;
};

/// Σ (λ − 1) of the batches' own columns, mean.
double held_out_volume(const GraphView& graph, const Partition& partition, const Settings& s) {
    // Training and partitioners draw from small seeds and from hashes; this one is neither.
    const VertexSamples batches(graph.vertices(), {.batch_vertices = s.batch_vertices, .seed = 0x68656c64});
    SubgraphMaker maker(graph);
    double rows = 0;
    for (std::int64_t b = 0; b < s.batches; ++b) {
        const Subgraph batch = maker.induced(batches.vertices(b));
        Partition of_batch{.parts = partition.parts, .part_of = {}, .column_part_of = {}};
        for (const GlobalId v : batch.vertices) of_batch.part_of.push_back(partition.part_of[usize(value(v))]);
        rows += static_cast<double>(measure_quality(batch.view(), of_batch).connectivity_minus_one);
    }
    return rows / static_cast<double>(s.batches);
}

Measured measure(const PluginCatalog& plugins, const std::string& name, const GraphView& graph, Part parts,
                 const Settings& s, const ParamTexts& set = {}) {
    const auto partitioner = plugins.partitioner(name);
    const auto declared = plugins.find(PluginKind::partitioner, name).params;
    Params params(declared);
    for (const ParamDecl& d : declared) {
        if (d.name == std::string("imbalance")) params.set(d, "0.01");
        if (d.name == std::string("weights")) params.set(d, "nonzeros");
        if (d.name == std::string("batch_vertices")) params.set(d, std::to_string(s.batch_vertices));
        if (const auto given = set.find(d.name); given != set.end()) params.set(d, given->second);
    }
    const DatasetView data{.name = "", .graph = graph, .features = {}, .labels = {}, .split = {}};
    const auto begin = std::chrono::steady_clock::now();
    const Partition p = partitioner->partition(
        {.dataset = data, .model = {}, .need = {.parts = parts}, .params = params, .seed = s.seed});
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double q =
        static_cast<double>(std::min(s.batch_vertices, graph.vertices())) / static_cast<double>(graph.vertices());
    return {held_out_volume(graph, p, s), expected_volume(graph, p.part_of, parts, q), wall_s};
}

std::string row(const PluginCatalog& plugins, const GraphView& graph, Part parts, const Settings& s) {
    const Measured cut = measure(plugins, "metis", graph, parts, s),
                   whole = measure(plugins, "hypergraph", graph, parts, s),
                   sampled = measure(plugins, "stochastic-hypergraph", graph, parts, s);
    std::string cells = fmt::format("| {}", parts);
    for (const Measured& m : {cut, whole, sampled})
        cells += fmt::format(" | {:.0f} | {:.0f} | {:.1f}", m.held_out, m.expected, m.seconds);
    cells += fmt::format(" | {:.2f} | {:.2f}", cut.held_out / sampled.held_out, whole.held_out / sampled.held_out);
    for (const char* unsampled : {"balance", "random", "neighbours"}) {
        const Measured alone = measure(plugins, "stochastic-hypergraph", graph, parts, s,
                                       {{"expected_nets", "false"}, {"unsampled", unsampled}});
        cells += fmt::format(" | {:.0f}", alone.held_out);
    }
    return cells + " |\n";
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench;
    using namespace gnnbench::bench;
    Settings s;
    std::int64_t vertices = 334863;
    std::vector<Part> parts{3, 9, 15, 21, 27};
    std::string store_path, output;
    CommandLine app{"rows that mini-batches move under partitions by METIS, hypergraph and stochastic-hypergraph"};
    app.add("--store", store_path, "a dataset's folder; default: a made-up graph of com-Amazon's size");
    app.add("--vertices", vertices, "of the made-up graph").within(100, 100000000);
    app.add("--parts", parts, "numbers of parts").within(2, 100000);
    app.add("--batch", s.batch_vertices, "vertices of a batch").within(1, 1 << 30);
    app.add("--batches", s.batches, "batches drawn").within(1, 1000000);
    app.add("--seed", s.seed, "of the partitioners");
    app.add("--output", output, "also write the table to this file");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        const PluginCatalog plugins;
        std::optional<Store> store;
        Csr made_up;
        if (store_path.empty())
            made_up = undirected(power_law({.vertices = vertices,
                                            .average_degree = 2.8,
                                            .exponent = 2.5,
                                            .widest = 100,
                                            .communities = std::max<std::int64_t>(1, vertices / 17),
                                            .inside = 0.7}));
        else
            store.emplace(Store::open(store_path));
        const GraphView graph =
            store ? store->view().graph
                  : GraphView{.indptr = made_up.indptr, .indices = made_up.indices, .weights = {}};
        std::string text = fmt::format(
            "{} vertices, {} entries, {} batches of {} vertices; columns: held out, expected, seconds\n\n"
            "| parts | METIS | | | hypergraph | | | stochastic-hypergraph | | | METIS ÷ stochastic | hypergraph ÷ "
            "stochastic | Algorithm 3 alone, held out: balance | random | neighbours |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
            graph.vertices(), graph.edges(), s.batches, s.batch_vertices);
        std::fputs(text.c_str(), stdout);
        for (const Part p : parts) {
            const std::string line = row(plugins, graph, p, s);
            std::fputs(line.c_str(), stdout);
            std::fflush(stdout);
            text += line;
        }
        if (!output.empty()) std::ofstream(output) << text;
    } catch (const Error& e) {
        std::fprintf(stderr, "bench_batches: %s\n", e.what());
        return 2;
    }
    return 0;
}
