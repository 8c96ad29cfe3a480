#include "spec/setting.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>
#include <gnnbench/strategy.hpp>

#include "data/expectation.hpp"
#include "spec/machine_file.hpp"
#include "spec/program_file.hpp"

namespace gnnbench {

ModelSpec complete_model(const Cell& cell, std::int64_t features, std::int64_t classes) {
    ModelSpec model = cell.model;
    model.widths.insert(model.widths.begin(), features);
    model.widths.push_back(classes);
    return model;
}

TrainSpec complete_train(const Cell& cell) {
    TrainSpec train = cell.train;
    const std::size_t layers = cell.model.widths.size() + 1;
    if (train.weight_decay.size() == 1) train.weight_decay.assign(layers, train.weight_decay.front());
    return train;
}

Question::Question(const Cell& cell, const std::optional<DatasetFacts>& dataset) : train(complete_train(cell)) {
    const auto& hidden = cell.model.widths;
    const std::int64_t stand_in = hidden.empty() ? 16 : *std::max_element(hidden.begin(), hidden.end());
    model = complete_model(cell, dataset ? dataset->features : stand_in, dataset ? dataset->classes : stand_in);
}

namespace {

std::string from(PluginKind kind, const PluginChoice& plugin, const std::string& why) {
    return why.empty() ? why : fmt::format("{} {}: {}", yaml_word(kind), plugin.name, why);
}

}  // namespace

std::string why_not_slowed(const Cell& cell, const Strategy& strategy) {
    if (!cell.slowdown.declared()) return {};
    if (!strategy.trains_on_batches())
        return "slowdown is for schemes that train by batches, which this one does not";
    const auto& factors = cell.slowdown.factor;
    if (factors.empty() || factors.rbegin()->first < cell.gpus) return {};
    return fmt::format("slowdown names rank {}; ranks are {{0 … {}}}", factors.rbegin()->first, cell.gpus - 1);
}

bool simulates_values(const Cell& cell) {
    const auto& params = cell.kernel.params.values();
    const auto found = params.find("values");
    return found != params.end() && std::get<bool>(found->second);
}

namespace {

/// Why a kernel that simulates its ranks cannot run the cell; empty if it can.
std::string why_not_simulated(const Cell& cell) {
    if (cell.scheme.is_program()) return "a program is not simulated";
    if (simulates_values(cell) && is_expected(*cell.dataset.source))
        return fmt::format("values: true needs a graph that is there, and dataset {} is only expected",
                           cell.dataset.name);
    const std::string& name = cell.kernel.params.text("machine");
    if (name.empty()) return {};
    const SimulatedChoice choice(name);
    if (choice.program == "released" && released_program(cell.scheme.name).empty())
        return fmt::format("what the released program of {} does beside its algorithm is not known",
                           cell.scheme.name);
    const simulation::Machine machine = load_machine(choice.machine);
    if (cell.gpus <= machine.devices()) return {};
    return fmt::format("machine {} has {} devices; {} given", machine.name, machine.devices(), cell.gpus);
}

}  // namespace

std::string why_not_expected(const Cell& cell, const Strategy& strategy, const PartitionNeed& need) {
    if (!is_expected(*cell.dataset.source)) return {};
    const std::string graph = fmt::format("dataset {} is only expected", cell.dataset.name);
    if (strategy.trains_on_batches()) return graph + ", and batches are subgraphs of one that is there";
    if (cell.model.sparse_features) return graph + ": its features have no zeros that could be counted";
    if (need.column_parts > 0) return graph + ", with columns in the same parts as rows";
    if (need.vertex_cut) return graph + ", so it has no edges to deal to parts";
    if (need.parts <= 1 || cell.partitioner.name == "random") return {};
    if (cell.partitioner.name == "block")
        return graph + ", and nobody knows its order: use the partitioner random";
    if (expected_dataset(*cell.dataset.source).partitioned) return {};
    return fmt::format("{}, so the partitioner {} has no graph to cut: give the dataset a locality, or use random",
                       graph, cell.partitioner.name);
}

std::string why_kernel_unsupported(const Cell& cell, const PluginSource& plugins) {
    if (const auto facts = plugins.find(PluginKind::kernel, cell.kernel.name); facts && facts->simulates)
        if (const std::string why = why_not_simulated(cell); !why.empty())
            return from(PluginKind::kernel, cell.kernel, why);
    KernelSetting setting;
    setting.dtype = cell.precision == "float64" ? DType::f64 : DType::f32;
    setting.threads = cell.threads_per_rank;
    setting.local_ranks = cell.gpus;
    setting.params = cell.kernel.params;
    return from(PluginKind::kernel, cell.kernel, plugins.kernel(cell.kernel.name).why_unsupported(setting));
}

std::string why_unsupported(const Cell& cell, const std::optional<DatasetFacts>& dataset,
                            const PluginSource& plugins) {
    const std::string why = why_unsupported_without_kernel(cell, dataset, plugins);
    return why.empty() ? why_kernel_unsupported(cell, plugins) : why;
}

std::string why_unsupported_without_kernel(const Cell& cell, const std::optional<DatasetFacts>& dataset,
                                           const PluginSource& plugins) {
    const Question q(cell, dataset);
    if (cell.scheme.is_program()) {
        if (cell.slowdown.declared()) return from(PluginKind::strategy, cell.scheme, "a program has no slowdown");
        if (cell.model.sparse_features)
            return from(PluginKind::strategy, cell.scheme, "sparse_features is not told to programs");
        return {};
    }
    const Strategy& strategy = plugins.strategy(cell.scheme.name);
    const Setting setting{cell.gpus, q.model, q.train, cell.scheme.params};
    std::string why = strategy.why_unsupported(setting);
    if (why.empty()) why = why_not_slowed(cell, strategy);
    if (why.empty()) why = why_not_expected(cell, strategy, strategy.partition_need(setting));
    if (!why.empty()) return from(PluginKind::strategy, cell.scheme, why);
    if (dataset) {
        const Partitioner& partitioner = plugins.partitioner(cell.partitioner.name);
        why =
            why_not_served(partitioner, dataset->size, strategy.partition_need(setting), cell.partitioner.params);
        if (!why.empty()) return from(PluginKind::partitioner, cell.partitioner, why);
    }
    return {};
}

}  // namespace gnnbench
