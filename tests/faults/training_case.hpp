#pragma once
#include <memory>
#include <optional>
#include <string>

#include "check/product_probe.hpp"
#include "contract/strategy_case.hpp"
#include "faults/faulty_backend.hpp"
#include "faults/faulty_strategy.hpp"
#include "worker/verified_training.hpp"

namespace gnnbench::faults {

/// A training to verify, on all ranks, with or without a fault.
struct TrainingCase {
    graphs::NamedGraph graph;
    contract::ModelVariant model;
    std::string scheme = "cagnet-1d", partitioner = "block", backend = "cpu";
    Params scheme_params, kernel_params;
    int threads = 1;
    std::uint64_t seed = 3;
    OptimizerKind own_optimizer = OptimizerKind::adam;  ///< of a trial; verification itself steps by SGD
    std::int64_t epochs = 3;
    std::optional<graphs::NamedGraph> full = {};  ///< what is probed, where `graph` is a sample of it
    std::string skipped = {};                     ///< why it did not run
};

/// Verifies it, then probes its products as at full size. Sets `skipped` where scheme or partitioner cannot serve.
inline VerifiedTraining verify(TrainingCase& t, Injected injected, const ProcessGroup& world) {
    const auto& catalog = contract::catalog();
    const OwnedDataset owned = contract::dress(t.graph, t.model);
    const DatasetView data = owned.view();
    const ModelSpec model = t.model.complete_model();
    const TrainSpec train = t.model.complete_train();
    TrainSpec own = train;
    own.optimizer = t.own_optimizer;
    own.learning_rate = 0.01;
    const auto scheme = catalog.strategy(t.scheme);
    const auto partitioner = catalog.partitioner(t.partitioner);
    const Params partitioner_params(catalog.find(PluginKind::partitioner, t.partitioner).params);
    const Setting setting{world.size(), model, train, t.scheme_params};
    const PartitionNeed need = scheme->partition_need(setting);
    t.skipped = scheme->why_unsupported(setting);
    if (t.skipped.empty())
        t.skipped = partitioner->why_unsupported(
            {data.graph.vertices(), data.graph.edges(), !data.graph.weights.empty()}, need, partitioner_params);
    if (!t.skipped.empty()) return {};
    const auto divided = [&](const DatasetView& of) {
        return make_partition(
            *partitioner,
            {.dataset = of, .model = model, .need = need, .params = partitioner_params, .seed = t.seed}, world);
    };
    const Partition partition = divided(data);
    const IndexMap index(partition);
    const FaultyStrategy strategy(*scheme, injected);
    const Problem problem{data, index, model, train, t.scheme_params, nullptr, world.size()};
    bool first = true;
    const auto plain_backend = [&](DType dtype) {
        KernelSetting s = contract::kernel_setting_of({t.backend, dtype, t.kernel_params});
        s.threads = t.threads;
        return catalog.kernel(t.backend)->create(s);
    };
    const auto make_backend = [&]() -> std::unique_ptr<Backend> {
        auto backend = plain_backend(DType::f32);
        if (injected.fault == Fault::none) return backend;
        return std::make_unique<FaultyBackend>(std::move(backend), injected, std::exchange(first, false));
    };
    std::optional<ReferenceResult> reference;
    if (world.rank() == 0 && strategy.approximation(t.scheme_params).empty())
        reference = compute_reference(catalog, {.data = data,
                                                .model = model,
                                                .train = train,
                                                .epochs = t.epochs,
                                                .trained_features = trains_features(t.scheme_params)});
    VerifiedTraining v = verify_training({.strategy = strategy,
                                          .problem = problem,
                                          .group = world,
                                          .backend = make_backend,
                                          .float64_backend = [&] { return plain_backend(DType::f64); },
                                          .own_training = &own,
                                          .epochs = t.epochs,
                                          .catalog = &catalog},
                                         reference ? &*reference : nullptr);

    const OwnedDataset whole = t.full ? contract::dress(*t.full, t.model) : owned;
    const DatasetView full_data = whole.view();
    const Partition full_partition = divided(full_data);
    const IndexMap full_index(full_partition);
    const Problem full{full_data, full_index, model, train, t.scheme_params, nullptr, world.size()};
    ProductProbe backend(make_backend());
    VolumeCounter counter;
    Communicator comm(backend.connect(world), backend, counter);
    const auto trainer = strategy.make_collective_trainer(full, {backend, comm, world});
    trainer->train_epoch(0);
    backend.synchronize(StreamRole::compute);
    Ledger ledger(world.rank());
    backend.test(ledger, t.seed);
    gather(ledger, world, v);
    return v;
}

}  // namespace gnnbench::faults
