// worker_ranks <request.json>: the ranks of bench_workers, started by mpiexec: two for what they do together, one for
// an epoch.
#include <algorithm>
#include <chrono>

#include "measure.hpp"
#include "rank_main.hpp"

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

json measured(const json& request, const ProcessGroup& world) {
    const PluginCatalog catalog;
    const int rounds = request.at("rounds");
    if (world.size() == 1) {
        const Ground g{catalog, world, std::max(rounds / 3, 1), 1};
        return json::array({measure_epoch(g, request.at("epoch"))});
    }
    const Ground g{catalog, world, rounds, request.at("repetitions")},
        few{catalog, world, rounds, std::max<std::int64_t>(g.repetitions / 50, 1)};
    return json::array({measure_pool(g), measure_agreement(g), measure_averaging(few, request.at("elements"))});
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    return gnnbench::bench::rank_main(argc, argv, "worker_ranks", gnnbench::bench::measured);
}
