// What workers do between agreements: a pairwise averaging, and an epoch of batches.
#include <gnnbench/strategy.hpp>

#include "check/forwarding_backend.hpp"
#include "mpi/check.hpp"
#include "measure.hpp"
#include "rank_main.hpp"
#include "worker/workload.hpp"

namespace gnnbench::bench {
namespace {

using nlohmann::json;

std::unique_ptr<Backend> cpu_backend(const Ground& g) {
    return g.catalog.kernel("cpu")->create(
        {.threads = 1, .params = Params(g.catalog.find(PluginKind::kernel, "cpu").params)});
}

/// Writes down GEMMs while it is on.
class GemmNotes final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    bool on = false;
    std::vector<verb::Gemm> gemms;  ///< without their epilogues
    Backend& plain() { return inner(); }

private:
    using ForwardingBackend::perform;
    void perform(const verb::Gemm& v) override {
        if (on) gemms.push_back({v.ta, v.a, v.tb, v.b, v.c, v.s});
        inner().run(v);
    }
};

ModelSpec graphsage(const DatasetView& data, const json& hidden) {
    ModelSpec m;
    m.kind = LayerKind::sage;
    m.normalisation = Normalisation::mean;
    m.self_loops = false;
    m.widths = {data.feature_count};
    for (const std::int64_t w : hidden) m.widths.push_back(w);
    m.widths.push_back(data.classes);
    return m;
}

}  // namespace

json measure_averaging(const Ground& g, std::int64_t elements) {
    const auto backend = cpu_backend(g);
    VolumeCounter counter;
    Communicator pair(backend->connect(g.world), *backend, counter);
    const Matrix mine = backend->matrix(1, elements), theirs = backend->matrix(1, elements),
                 sent = backend->matrix(1, elements), received = backend->matrix(1, elements);
    for (const Matrix* m : {&mine, &theirs, &sent, &received}) backend->fill(*m, 1);
    const int partner = 1 - g.world.rank();
    const auto by_both = [&](const std::function<void()>& work) {
        g.world.barrier();
        const double seconds = seconds_of([&] {
            for (std::int64_t i = 0; i < g.repetitions; ++i) work();
        });
        return g.world.maximum({seconds})[0] / static_cast<double>(g.repetitions);
    };
    const auto exchange = [&] {
        const RowMessage out{partner, mine}, in{partner, theirs};
        pair.exchange_now({&out, 1}, {&in, 1});
    };
    const auto average = [&] { backend->axpby(0.5, theirs, 0.5, mine); };
    json result = by_turns(
        g, "averaging with a partner, beside MPI_Sendrecv of the same bytes",
        [&] {
            return by_both([&] {
                exchange();
                average();
            });
        },
        [&] {
            return by_both([&] {
                check_mpi(MPI_Sendrecv(sent.view().data, static_cast<int>(elements), MPI_FLOAT, partner, 0,
                                       received.view().data, static_cast<int>(elements), MPI_FLOAT, partner, 0,
                                       *static_cast<MPI_Comm*>(g.world.native()), MPI_STATUS_IGNORE),
                          "MPI_Sendrecv");
            });
        });
    result["parts"] = {{"exchange", by_both(exchange)}, {"average", by_both(average)}};
    result["bytes"] = 4 * elements;
    return result;
}

json measure_epoch(const Ground& g, const json& setting) {
    const OwnedDataset owned = generated_dataset(setting.at("graph"));
    const DatasetView data = owned.view();
    const ModelSpec model = graphsage(data, setting.at("hidden"));
    TrainSpec train;
    train.dropout = setting.at("dropout");
    train.weight_decay.assign(model.widths.size() - 1, 0);
    const auto strategy = g.catalog.strategy("cluster-gcn");
    const auto declared = g.catalog.find(PluginKind::strategy, "cluster-gcn").params;
    Params params(declared);
    for (const ParamDecl& p : declared)
        if (std::string_view(p.name) == "clusters") params.set(p, setting.at("clusters").dump());
    GemmNotes backend(cpu_backend(g));
    VolumeCounter counter;
    Communicator self(backend.connect(g.world), backend, counter);
    const Params of_random(g.catalog.find(PluginKind::partitioner, "random").params);
    const Partition partition =
        make_partition(*g.catalog.partitioner("random"),
                       {data, model, strategy->partition_need({1, model, train, params}), of_random, 1}, g.world);
    const IndexMap index(partition);
    const auto trainer = strategy->make_collective_trainer({data, index, model, train, params, nullptr, 1},
                                                           {backend, self, g.world});
    std::int64_t epoch = 0;
    backend.on = true;
    trainer->train_epoch(epoch++);
    backend.on = false;
    const auto of_epoch = [&] {
        return seconds_of([&] {
            backend.trace().begin_epoch();
            trainer->train_epoch(epoch++);
            backend.trace().end_epoch();
        });
    };
    const auto gemms = [&] {
        return seconds_of([&] {
            for (const verb::Gemm& m : backend.gemms) backend.plain().run(m);
        });
    };
    json result = by_turns(g, "an epoch of cluster-gcn, beside its GEMMs alone", of_epoch, gemms);
    const EpochTimes times = backend.trace().times();
    for (std::size_t p = 0; p < phase_count; ++p)
        if (times.phase_s[p] > 0) result["phases"][std::string(phase_names[p])] = times.phase_s[p];
    result["gemms"] = backend.gemms.size();
    result["vertices"] = data.graph.vertices();
    result["edges"] = data.graph.edges();
    return result;
}

}  // namespace gnnbench::bench
