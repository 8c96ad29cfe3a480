// worker_ranks <request.json>: the ranks of bench_workers, started by mpiexec: two for what they do together, one for
// an epoch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "core/mpi_check.hpp"
#include "launch/die_with_parent.hpp"
#include "measure.hpp"

namespace gnnbench::bench {

using nlohmann::json;

namespace {

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

json by_turns(const Ground& g, const std::string& what, const std::function<double()>& ours,
              const std::function<double()>& bare) {
    std::vector<double> of_ours, of_bare, ratios;
    ours();
    bare();
    for (int round = 0; round < g.rounds; ++round) {
        of_ours.push_back(ours());
        of_bare.push_back(bare());
        ratios.push_back(of_ours.back() / of_bare.back());
    }
    return {{"what", what}, {"ours_s", median(of_ours)}, {"bare_s", median(of_bare)}, {"ratio", median(ratios)}};
}

namespace {

void run(const std::string& request_file) {
    const json request = json::parse(std::ifstream(request_file));
    const ProcessGroup world = ProcessGroup::world();
    const PluginCatalog catalog;
    const int rounds = request.at("rounds");
    json result = json::array();
    if (world.size() == 1) {
        const Ground g{catalog, world, std::max(rounds / 3, 1), 1};
        result.push_back(measure_epoch(g, request.at("epoch")));
    } else {
        const Ground g{catalog, world, rounds, request.at("repetitions")},
            few{catalog, world, rounds, std::max<std::int64_t>(g.repetitions / 50, 1)};
        result = {measure_pool(g), measure_agreement(g), measure_averaging(few, request.at("elements"))};
    }
    if (world.rank() == 0 && !(std::ofstream(request.at("result").get<std::string>()) << result))
        throw EnvironmentError("cannot write the measurements");
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    gnnbench::die_with_parent();
    if (argc != 2) {
        std::fprintf(stderr, "usage: worker_ranks request.json (bench_workers starts it)\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    try {
        gnnbench::bench::run(argv[1]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "worker_ranks: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
