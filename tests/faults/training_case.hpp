#pragma once
#include <memory>
#include <optional>
#include <string>

#include "check/product_probe.hpp"
#include "contract/strategy_case.hpp"
#include "faults/faulty_backend.hpp"
#include "faults/faulty_strategy.hpp"
#include "worker/verify/step_size.hpp"
#include "worker/verify/verified_training.hpp"

namespace gnnbench::faults {

/// What is trained, on all ranks, and with what.
struct Trained {
    const DatasetView& data;
    const ModelSpec& model;
    const TrainSpec& train;
    OptimizerKind own_optimizer = OptimizerKind::adam;  ///< of a trial; verification itself steps by SGD
    double own_rate = 0.01;
    std::string scheme = "cagnet-1d", partitioner = "block", backend = "cpu";
    const Params& scheme_params;
    const Params& kernel_params;
    int threads = 1;
    std::uint64_t seed = 3;
    std::int64_t epochs = 3;
};

/// A back end of it, with a fault in float32.
class BackendsOf {
public:
    BackendsOf(const Trained& t, Injected injected) : t_(t), injected_(injected) {}
    std::unique_ptr<Backend> plain(DType dtype) const {
        KernelSetting s = contract::kernel_setting_of({t_.backend, dtype, t_.kernel_params});
        s.threads = t_.threads;
        s.heads = t_.model.most_heads();
        return contract::catalog().kernel(t_.backend)->create(s);
    }
    std::unique_ptr<Backend> faulty() {
        auto backend = plain(DType::f32);
        if (injected_.fault == Fault::none) return backend;
        return std::make_unique<FaultyBackend>(std::move(backend), injected_, std::exchange(first_, false));
    }

private:
    const Trained& t_;
    Injected injected_;
    bool first_ = true;
};

/// Why scheme or partitioner cannot serve it; empty: they can.
inline std::string why_unsupported(const Trained& t, int ranks) {
    const auto& catalog = contract::catalog();
    const auto scheme = catalog.strategy(t.scheme);
    const Setting setting{ranks, t.model, t.train, t.scheme_params};
    if (const std::string why = scheme->why_unsupported(setting); !why.empty()) return why;
    const Params params(catalog.find(PluginKind::partitioner, t.partitioner).params);
    const GraphView& graph = t.data.graph;
    return why_not_served(*catalog.partitioner(t.partitioner),
                          {graph.vertices(), graph.edges(), !graph.weights.empty()},
                          scheme->partition_need(setting), params);
}

inline Partition divided(const Trained& t, const DatasetView& data, const ProcessGroup& world) {
    const auto& catalog = contract::catalog();
    const Params params(catalog.find(PluginKind::partitioner, t.partitioner).params);
    const PartitionNeed need =
        catalog.strategy(t.scheme)->partition_need({world.size(), t.model, t.train, t.scheme_params});
    const auto partitioner = catalog.partitioner(t.partitioner);
    return make_partition(
        *partitioner, {.dataset = data, .model = t.model, .need = need, .params = params, .seed = t.seed}, world);
}

/// Verifies it as `gnnbench verify` does. It must be supported.
inline VerifiedTraining verify(const Trained& t, BackendsOf& backends, Injected injected,
                               const ProcessGroup& world) {
    const auto& catalog = contract::catalog();
    const auto scheme = catalog.strategy(t.scheme);
    const FaultyStrategy strategy(*scheme, injected);
    const TrainSpec train = verification_training(t.train);
    TrainSpec own = t.train;
    own.optimizer = t.own_optimizer;
    own.learning_rate = t.own_rate;
    const IndexMap index(divided(t, t.data, world));
    const Problem problem{t.data, index, t.model, train, t.scheme_params, nullptr, world.size()};
    std::optional<ReferenceResult> reference;
    if (world.rank() == 0)
        reference = tame_reference(catalog, {.data = t.data,
                                             .model = t.model,
                                             .train = train,
                                             .epochs = t.epochs,
                                             .trained_features = trains_features(t.scheme_params)});
    return verify_training({.strategy = strategy,
                            .problem = problem,
                            .group = world,
                            .backend = [&] { return backends.faulty(); },
                            .float64_backend = [&] { return backends.plain(DType::f64); },
                            .own_training = &own,
                            .epochs = t.epochs,
                            .catalog = &catalog,
                            .approximate = !strategy.approximation(t.scheme_params).empty()},
                           reference ? &*reference : nullptr);
}

/// A training on a graph of its own, with or without a fault.
struct TrainingCase {
    graphs::NamedGraph graph;
    contract::ModelVariant model;
    std::string scheme = "cagnet-1d", partitioner = "block", backend = "cpu";
    Params scheme_params, kernel_params;
    int threads = 1;
    std::uint64_t seed = 3;
    OptimizerKind own_optimizer = OptimizerKind::adam;
    std::int64_t epochs = 3;
    std::optional<graphs::NamedGraph> full = {};  ///< what is probed, where `graph` is a sample of it
    std::string skipped = {};                     ///< why it did not run
};

/// Verifies it, then probes its products as at full size. Sets `skipped` where scheme or partitioner cannot serve.
inline VerifiedTraining verify(TrainingCase& c, Injected injected, const ProcessGroup& world) {
    const OwnedDataset owned = contract::dress(c.graph, c.model);
    const DatasetView data = owned.view();
    const ModelSpec model = c.model.complete_model();
    const TrainSpec train = c.model.complete_train();
    const Trained t{.data = data,
                    .model = model,
                    .train = train,
                    .own_optimizer = c.own_optimizer,
                    .scheme = c.scheme,
                    .partitioner = c.partitioner,
                    .backend = c.backend,
                    .scheme_params = c.scheme_params,
                    .kernel_params = c.kernel_params,
                    .threads = c.threads,
                    .seed = c.seed,
                    .epochs = c.epochs};
    c.skipped = why_unsupported(t, world.size());
    if (!c.skipped.empty()) return {};
    BackendsOf backends(t, injected);
    VerifiedTraining v = verify(t, backends, injected, world);

    const OwnedDataset whole = c.full ? contract::dress(*c.full, c.model) : owned;
    const DatasetView full_data = whole.view();
    const IndexMap full_index(divided(t, full_data, world));
    const Problem full{full_data, full_index, model, train, c.scheme_params, nullptr, world.size()};
    ProductProbe backend(backends.faulty());
    VolumeCounter counter;
    Communicator comm(backend.connect(world), backend, counter);
    const auto scheme = contract::catalog().strategy(c.scheme);
    const auto trainer = FaultyStrategy(*scheme, injected).make_collective_trainer(full, {backend, comm, world});
    trainer->train_epoch(0);
    backend.synchronize(StreamRole::compute);
    Ledger ledger(world.rank());
    backend.test(ledger, c.seed);
    gather(ledger, world, v);
    return v;
}

}  // namespace gnnbench::faults
