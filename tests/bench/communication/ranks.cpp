// communication_ranks <request.json>: the ranks of bench_communication, started by mpiexec.
#include <cstdio>

#include "measure.hpp"
#include "rank_main.hpp"

namespace gnnbench::bench {
namespace {

using nlohmann::json;

json measured(const json& request, const ProcessGroup& world) {
    const OwnedDataset owned = generated_dataset(request.at("graph"));
    const DatasetView data = owned.view();
    const PluginCatalog catalog;
    std::vector<std::int64_t> widths = {data.feature_count};
    for (const std::int64_t w : request.at("hidden")) widths.push_back(w);
    widths.push_back(data.classes);
    const Ground ground{catalog, world, data, widths, request.at("rounds")};

    json result = {{"vertices", data.graph.vertices()},
                   {"edges", data.graph.edges()},
                   {"widths", widths},
                   {"schemes", json::array()},
                   {"packing", json::object()}};
    const std::string only = request.at("only");
    for (const Scheme& s : schemes(catalog)) {
        if (!only.empty() && s.name != only) continue;
        if (world.rank() == 0) std::fprintf(stderr, "%d ranks: %s\n", world.size(), s.text().c_str());
        result["schemes"].push_back(measure_scheme(ground, s));
    }
    const Scheme overlapping[] = {{"mg-gcn", {}},
                                  {"mg-gcn", {{"overlap", "false"}}},
                                  {"mg-gcn", {{"tiling", "column"}}},
                                  {"mg-gcn", {{"overlap", "false"}, {"tiling", "column"}}},
                                  {"sa-1d", {}},
                                  {"demirci-p2p", {}},
                                  {"bns-gcn", {}},
                                  {"plexus-3d", {}}};
    result["epochs"] = json::array();
    for (const Scheme& s : overlapping)
        if (only.empty() || s.name == only) result["epochs"].push_back(measure_epochs(ground, s));
    for (const std::string& partitioner : {std::string("random"), std::string("metis")})
        result["packing"][partitioner] = measure_packing(ground, partitioner, request.at("packed_widths"));
    result["latency"] = measure_latency(ground);
    return result;
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    return gnnbench::bench::rank_main(argc, argv, "communication_ranks", gnnbench::bench::measured);
}
