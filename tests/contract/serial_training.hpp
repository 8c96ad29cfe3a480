#pragma once
#include <string>
#include <vector>

#include <gnnbench/strategy.hpp>
#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/transport.hpp>

#include "plugin/loader.hpp"
#include "mpi/mpi.hpp"

/// `serial` on `reference` in float64, from its first epoch to its last weights.
namespace gnnbench::contract {

struct SerialTraining {
    std::vector<double> loss;            ///< of each epoch, before its step
    std::vector<ModelWeights> gradient;  ///< of each epoch's loss
    ModelWeights weights;                ///< after the last step
};

/// Alone in this process. `initial` nullptr: drawn from the seed.
inline SerialTraining train_serially(const PluginCatalog& catalog, const DatasetView& data, const ModelSpec& model,
                                     const TrainSpec& train, const ModelWeights* initial, std::int64_t epochs,
                                     bool trained_features) {
    const auto backend = catalog.kernel("reference")->create({.dtype = DType::f64});
    const auto strategy = catalog.strategy("serial");
    VolumeCounter counter;
    const ProcessGroup alone = mpi_self();
    Communicator self(backend->connect(alone), *backend, counter);
    const Partition whole{.parts = 1,
                          .part_of = std::vector<Part>(static_cast<std::size_t>(data.graph.vertices())),
                          .column_part_of = {}};
    const IndexMap index(whole);
    const auto declared = catalog.find(PluginKind::strategy, "serial").params;
    Params params(declared);
    for (const ParamDecl& p : declared)
        if (std::string(p.name) == trainable_features) params.set(p, trained_features ? "true" : "false");
    const auto trainer =
        strategy->make_collective_trainer({data, index, model, train, params, initial}, {*backend, self, alone});
    SerialTraining out;
    for (std::int64_t e = 0; e < epochs; ++e) {
        out.loss.push_back(trainer->train_epoch(e).loss);
        out.gradient.push_back(trainer->gradients());
    }
    out.weights = trainer->weights();
    return out;
}

}  // namespace gnnbench::contract
