#include <chrono>
#include <cstring>
#include <limits>

#include <gnnbench/training/halo.hpp>

#include "measure.hpp"

namespace gnnbench::bench {
namespace {

using nlohmann::json;

double seconds_of(auto&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

json measure_packing(const Ground& g, const std::string& partitioner, const std::vector<std::int64_t>& widths) {
    const Params params(g.catalog.find(PluginKind::partitioner, partitioner).params);
    const ModelSpec model;
    const Partition partition = g.catalog.partitioner(partitioner)
                                    ->partition({.dataset = g.data,
                                                 .model = model,
                                                 .need = {.parts = g.world.size()},
                                                 .params = params,
                                                 .seed = 1});
    const IndexMap index(partition);
    const Halo halo =
        make_halo(Adjacency(g.data.graph, model), index, g.world.rank(), Direction::forward, every_block);
    const auto backend = g.catalog.kernel("cpu")->create(
        {.threads = 1, .params = Params(g.catalog.find(PluginKind::kernel, "cpu").params)});
    json results = json::array();
    for (const std::int64_t width : widths) {
        HaloExchange exchange(halo, *backend, width);
        const Matrix rows = backend->matrix(index.size(g.world.rank()), width);
        const Matrix from = backend->matrix(halo.sent_rows(), width),
                     to = backend->matrix(halo.sent_rows(), width);
        for (const Matrix* m : {&rows, &from, &to}) backend->fill(*m, 1);
        for (const RowMessage& m : exchange.return_receives(width)) backend->fill(m.rows, 1);
        double pack = std::numeric_limits<double>::infinity(), add = pack, copy = pack;
        for (int round = -1; round < g.rounds; ++round) {
            // A barrier before each, so that all ranks use the memory at once for the same thing.
            g.world.barrier();
            const double p = seconds_of([&] { exchange.pack(rows); });
            g.world.barrier();
            const double c = seconds_of([&] { std::memcpy(to.view().data, from.view().data, to.view().bytes()); });
            g.world.barrier();
            const double a = seconds_of([&] { exchange.add_returned(rows); });
            if (round < 0) continue;
            pack = std::min(pack, p);
            copy = std::min(copy, c);
            add = std::min(add, a);
        }
        const auto mean = mean_over_ranks(g.world, {static_cast<double>(halo.sent_rows()),
                                                    static_cast<double>(to.view().bytes()), pack, add, copy});
        results.push_back({{"width", width},
                           {"rows", mean[0]},
                           {"bytes", mean[1]},
                           {"pack_s", mean[2]},
                           {"add_s", mean[3]},
                           {"copy_s", mean[4]}});
    }
    return results;
}

}  // namespace gnnbench::bench
