#pragma once
#include <utility>

#include "faults/training_case.hpp"
#include "worker/verify/late_step.hpp"
#include "worker/verify/partition_check.hpp"

namespace gnnbench::faults {

/// A partitioner whose every second answer has its first and its last vertex exchanged, where their parts differ.
class InconstantPartitioner final : public Partitioner {
public:
    explicit InconstantPartitioner(const Partitioner& inner) : inner_(inner) {}
    std::string why_unsupported(const GraphSize& g, const PartitionNeed& n, const Params& p) const override {
        return inner_.why_unsupported(g, n, p);
    }
    Partition partition(const PartitionTask& task) const override {
        Partition p = inner_.partition(task);
        if (asked_++ % 2 > 0) std::swap(p.part_of.front(), p.part_of.back());
        return p;
    }

private:
    const Partitioner& inner_;
    mutable int asked_ = 0;
};

/// Asks the case's partitioner twice.
inline VerifiedTraining ask_twice(const TrainingCase& t, Injected injected, const ProcessGroup& world) {
    const auto& catalog = contract::catalog();
    const OwnedDataset owned = contract::dress(t.graph, t.model);
    const DatasetView data = owned.view();
    const ModelSpec model = t.model.complete_model();
    const Params params(catalog.find(PluginKind::partitioner, t.partitioner).params);
    const auto constant = catalog.partitioner(t.partitioner);
    const InconstantPartitioner inconstant(*constant);
    const bool wrong = injected.fault == Fault::inconstant_parts;
    const Partitioner& asked = wrong ? static_cast<const Partitioner&>(inconstant) : *constant;
    const PartitionTask task{
        .dataset = data, .model = model, .need = {.parts = world.size()}, .params = params, .seed = t.seed};
    Ledger ledger(world.rank());
    check_partitioner(partition_on_root(asked, task, world, nullptr).partition, asked, task, world, ledger);
    VerifiedTraining v;
    gather(ledger, world, v);
    return v;
}

/// How a case is trained before one step more is checked.
struct LateCase {
    std::int64_t epochs = 10;
    bool reference_fits = true;
    double learning_rate = 0.01;
    OptimizerKind optimizer = OptimizerKind::adam;
    DType dtype = DType::f32;
};

/// Trains the case with its own optimizer, then one step more, which is checked. Sets `skipped` where scheme or
/// partitioner cannot serve.
inline LateStep train_and_check(TrainingCase& t, Injected injected, const ProcessGroup& world,
                                const LateCase& late = {}) {
    const auto& catalog = contract::catalog();
    const OwnedDataset owned = contract::dress(t.graph, t.model);
    const DatasetView data = owned.view();
    const ModelSpec model = t.model.complete_model();
    TrainSpec train = t.model.complete_train();
    train.optimizer = late.optimizer;
    train.learning_rate = late.learning_rate;
    const auto scheme = catalog.strategy(t.scheme);
    const auto partitioner = catalog.partitioner(t.partitioner);
    const Params partitioner_params(catalog.find(PluginKind::partitioner, t.partitioner).params);
    const Setting setting{world.size(), model, train, t.scheme_params};
    const PartitionNeed need = scheme->partition_need(setting);
    t.skipped = scheme->why_unsupported(setting);
    if (t.skipped.empty()) t.skipped = scheme->approximation(t.scheme_params);
    if (t.skipped.empty())
        t.skipped =
            why_not_served(*partitioner, {data.graph.vertices(), data.graph.edges(), !data.graph.weights.empty()},
                           need, partitioner_params);
    if (!t.skipped.empty()) return {};
    const IndexMap index(make_partition(
        *partitioner,
        {.dataset = data, .model = model, .need = need, .params = partitioner_params, .seed = t.seed}, world));
    const FaultyStrategy strategy(*scheme, injected);
    const Problem problem{data, index, model, train, t.scheme_params, nullptr, world.size()};
    KernelSetting kernel = contract::kernel_setting_of({t.backend, late.dtype, t.kernel_params});
    kernel.threads = t.threads;
    kernel.heads = model.most_heads();
    std::unique_ptr<Backend> backend = catalog.kernel(t.backend)->create(kernel);
    if (injected.fault != Fault::none)
        backend = std::make_unique<FaultyBackend>(std::move(backend), injected, true);
    VolumeCounter counter;
    Communicator comm(backend->connect(world), *backend, counter);
    const Rank rank{*backend, comm, world};
    auto trainer = strategy.make_collective_trainer(problem, rank);
    for (std::int64_t e = 0; e < late.epochs; ++e) trainer->train_epoch(e);
    return check_late_step({.problem = problem,
                            .group = world,
                            .catalog = catalog,
                            .dtype = late.dtype,
                            .epochs = late.epochs,
                            .reference_fits = late.reference_fits,
                            .rebuild =
                                [&](const ModelWeights& weights) {
                                    trainer.reset();
                                    const Problem anew{data,     index,       model, train, t.scheme_params,
                                                       &weights, world.size()};
                                    return strategy.make_collective_trainer(anew, rank);
                                }},
                           *trainer);
}

}  // namespace gnnbench::faults
