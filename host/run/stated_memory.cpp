#include "run/stated_memory.hpp"

#include <algorithm>
#include <optional>

#include <gnnbench/error.hpp>
#include <gnnbench/shared_setup.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/transpose.hpp>

#include "partition/cache.hpp"
#include "run/partition_run.hpp"
#include "run/prepare.hpp"
#include "run/started_programs.hpp"
#include "spec/partition_key.hpp"
#include "spec/setting.hpp"

namespace gnnbench {
namespace {

/// The partition that a trial of the cell would have; nothing where the partitioner does not support it.
std::optional<Partition> partition_for(const Cell& cell, const PartitionTask& task, const PluginSource& plugins,
                                       double limit_s) {
    const auto plugin = plugins.find(PluginKind::partitioner, cell.partitioner.name);
    if (!plugin) return {};
    const PartitionCache cache(partition_folder(cell.dataset.store));
    const std::string key = partition_key(cell, task.need, plugin->file);
    const GraphView& graph = task.dataset.graph;
    if (auto kept = cache.find(key, task.need, {graph.vertices(), graph.edges()}))
        return std::move(kept->partition);
    if (starts_a_program(cell.partitioner, plugins))
        throw Error("the partitioner starts a program, which only a run does; it keeps the partition");
    PartitionRun made =
        run_partitioner(cell.partitioner.name, plugins.partitioner(cell.partitioner.name), task, limit_s);
    if (!made.skipped.empty()) return {};
    if (made.wall_s > kept_from_s) cache.keep(key, {made.partition, made.wall_s});
    return std::move(made.partition);
}

}  // namespace

StatedMemory stated_memory_of(const Cell& cell, const Store& store, const PluginSource& plugins, double limit_s) {
    DatasetView data = store.view(cell.dataset.split);
    const Question q(cell, facts_of(cell.dataset));
    const Strategy& strategy = plugins.strategy(cell.scheme.name);
    const Setting setting{cell.gpus, q.model, q.train, cell.scheme.params};
    const PartitionTask task{.dataset = data,
                             .model = q.model,
                             .need = strategy.partition_need(setting),
                             .params = cell.partitioner.params,
                             .seed = q.train.seed};
    const auto partition = partition_for(cell, task, plugins, limit_s);
    if (!partition) return {};
    const IndexMap index(*partition);
    const WithTranspose both(data.graph);  // every rank reads columns of the graph
    data.graph = both.view();
    SharedSetup shared;
    const Problem problem{data,          index, q.model, q.train, cell.scheme.params, nullptr, cell.gpus,
                          cell.slowdown, 1,     nullptr, &shared};
    const std::int64_t element_bytes = cell.precision == "float64" ? 8 : 4;
    const bool has_processes = !simulated(cell, plugins), device_on_host = in_host_memory(cell, plugins);
    StatedMemory most;
    for (int rank = 0; rank < cell.gpus; ++rank) {
        const std::int64_t device = strategy.stated_memory(problem, rank, element_bytes);
        most.device = std::max(most.device, device);
        if (!has_processes) continue;
        const HostMemory host = host_memory(strategy, problem, rank, element_bytes, device, device_on_host);
        most.host_peak = std::max(most.host_peak, host.total());
        most.host_own += host.own;
    }
    return most;
}

}  // namespace gnnbench
