// communication_ranks <request.json>: the ranks of bench_communication, started by mpiexec.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/mpi_check.hpp"
#include "data/generate.hpp"
#include "launch/die_with_parent.hpp"
#include "measure.hpp"

namespace gnnbench::bench {
namespace {

using nlohmann::json;

OwnedDataset generated(const json& request) {
    RawDataset raw = generate("dcsbm", request.at("graph"));
    raw.masks.resize(raw.labels.size());  // the first split
    return {.name = "generated",
            .indptr = std::move(raw.graph.indptr),
            .indices = std::move(raw.graph.indices),
            .weights = {},
            .features = std::move(raw.features),
            .labels = std::move(raw.labels),
            .split = std::move(raw.masks),
            .feature_count = raw.feature_count,
            .classes = raw.classes,
            .symmetric = true};
}

void run(const std::string& request_file) {
    const json request = json::parse(std::ifstream(request_file));
    const ProcessGroup world = ProcessGroup::world();
    const OwnedDataset owned = generated(request);
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
    for (const std::string& partitioner : {std::string("random"), std::string("metis")})
        result["packing"][partitioner] = measure_packing(ground, partitioner, request.at("packed_widths"));
    if (world.rank() == 0 && !(std::ofstream(request.at("result").get<std::string>()) << result))
        throw EnvironmentError("cannot write the measurements");
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    gnnbench::die_with_parent();
    if (argc != 2) {
        std::fprintf(stderr, "usage: communication_ranks request.json (bench_communication starts it)\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    try {
        gnnbench::bench::run(argv[1]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "communication_ranks: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
