#include "rank_main.hpp"

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include <gnnbench/error.hpp>

#include "core/blas_processor.hpp"
#include "core/subnormals.hpp"
#include "mpi/check.hpp"
#include "data/generate.hpp"
#include "launch/die_with_parent.hpp"
#include "mpi/mpi.hpp"

namespace gnnbench::bench {

OwnedDataset generated_dataset(const nlohmann::json& settings) {
    RawDataset raw = generate("dcsbm", settings);
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

int rank_main(int argc, char** argv, const char* program,
              nlohmann::json (*measure)(const nlohmann::json& request, const ProcessGroup& world)) {
    die_with_parent();
    flush_subnormals();
    name_blas_processor();
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s request.json (a benchmark starts it)\n", program);
        return 2;
    }
    MPI_Init(&argc, &argv);
    try {
        const auto request = nlohmann::json::parse(std::ifstream(argv[1]));
        const ProcessGroup world = mpi_world();
        const nlohmann::json result = measure(request, world);
        if (world.rank() == 0 && !(std::ofstream(request.at("result").get<std::string>()) << result))
            throw EnvironmentError("cannot write the measurements");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", program, e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}

}  // namespace gnnbench::bench
