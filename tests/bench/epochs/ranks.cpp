// epoch_ranks <request.json>: the ranks of bench_epochs, started by mpiexec.
#include <algorithm>
#include <memory>
#include <vector>

#include <gnnbench/communicator.hpp>

#include "communication/alternating.hpp"
#include "plugin/loader.hpp"
#include "rank_main.hpp"

namespace gnnbench::bench {
namespace {

using nlohmann::json;

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// What all trainings of a launch have in common.
struct Ground {
    const PluginCatalog& catalog;
    const ProcessGroup& world;
    const DatasetView& data;
    std::int64_t hidden;
    int threads;
};

/// One scheme's training of a model with so many layers, ready for epochs.
class Training {
public:
    /// `turn`: says who makes the calls of its transport, and times them; nullptr: the plain transport.
    Training(const Ground& g, const std::string& scheme, int layers, Turn* turn)
        : world_(g.world),
          strategy_(g.catalog.strategy(scheme)),
          params_(g.catalog.find(PluginKind::strategy, scheme).params),
          backend_(g.catalog.kernel("cpu")->create(
              {.threads = g.threads, .params = Params(g.catalog.find(PluginKind::kernel, "cpu").params)})) {
        model_.widths.assign(static_cast<std::size_t>(layers) + 1, g.hidden);
        model_.widths.front() = g.data.feature_count;
        model_.widths.back() = g.data.classes;
        train_.weight_decay.assign(static_cast<std::size_t>(layers), 0);
        const Params none(g.catalog.find(PluginKind::partitioner, "random").params);
        const Partition partition = make_partition(
            *g.catalog.partitioner("random"),
            {g.data, model_, strategy_->partition_need({g.world.size(), model_, train_, params_}), none, 1},
            g.world);
        index_ = std::make_unique<IndexMap>(partition);
        auto transport = backend_->connect(g.world);
        if (turn)
            transport =
                make_alternating_transport(std::move(transport), *static_cast<MPI_Comm*>(g.world.native()), *turn);
        communicator_ = std::make_unique<Communicator>(std::move(transport), *backend_, counter_);
        trainer_ =
            strategy_->make_collective_trainer({g.data, *index_, model_, train_, params_, nullptr, g.world.size()},
                                               {*backend_, *communicator_, g.world});
    }

    /// The next epoch, measured as the worker measures it; this rank's wall time.
    EpochTimes epoch() {
        world_.barrier();
        backend_->trace().begin_epoch();
        trainer_->train_epoch(epoch_++);
        backend_->synchronize(StreamRole::compute);
        backend_->trace().end_epoch();
        counter_.take();
        return backend_->trace().times();
    }
    Backend& backend() { return *backend_; }

private:
    const ProcessGroup& world_;
    std::unique_ptr<Strategy> strategy_;
    Params params_;
    std::unique_ptr<Backend> backend_;
    ModelSpec model_;
    TrainSpec train_;
    std::unique_ptr<IndexMap> index_;
    VolumeCounter counter_;
    std::unique_ptr<Communicator> communicator_;
    std::unique_ptr<CollectiveTrainer> trainer_;
    std::int64_t epoch_ = 0;
};

/// Median seconds of so many epochs; the slowest rank's. Collective.
double epoch_s(const Ground& g, Training& training, int epochs) {
    std::vector<double> seconds;
    for (int e = 0; e < epochs; ++e) seconds.push_back(training.epoch().wall_s);
    return g.world.maximum({median(std::move(seconds))})[0];
}

/// Seconds that plain MPI takes for an epoch's calls, each after a barrier: the blocking or the non-blocking functions,
/// whichever take less. Collective.
double calls_s(const Ground& g, const std::string& scheme, int layers, int epochs) {
    Turn turn;
    Training training(g, scheme, layers, &turn);
    training.epoch();
    double least = 1e300;
    for (const Maker maker : {Maker::blocking, Maker::non_blocking}) {
        turn.maker = maker;
        std::vector<double> sums;
        for (int e = 0; e < epochs; ++e) {
            turn.calls.clear();
            training.epoch();
            double sum = 0;
            for (const Turn::Call& call : turn.calls) sum += call.seconds;
            sums.push_back(sum);
        }
        least = std::min(least, g.world.maximum({median(std::move(sums))})[0]);
    }
    return least;
}

json measured(const json& request, const ProcessGroup& world) {
    const OwnedDataset owned = generated_dataset(request.at("graph"));
    const DatasetView data = owned.view();
    const PluginCatalog catalog;
    const Ground g{catalog, world, data, request.at("hidden"), request.at("threads")};
    const int epochs = request.at("epochs"), rounds = request.at("rounds");
    json result = json::array();
    for (const std::string scheme : request.at("schemes")) {
        std::vector<std::unique_ptr<Training>> trainings;
        const std::vector<int> layers = request.at("layers");
        for (const int l : layers) trainings.push_back(std::make_unique<Training>(g, scheme, l, nullptr));
        std::vector<std::vector<double>> seconds(layers.size());
        for (int round = -1; round < rounds; ++round)
            for (std::size_t i = 0; i < layers.size(); ++i) {
                const double s = epoch_s(g, *trainings[i], epochs);
                if (round >= 0) seconds[i].push_back(s);
            }
        json of_scheme = {{"scheme", scheme}, {"layers", json::array()}};
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const EpochTimes times = trainings[i]->epoch();
            json phases = json::object();
            for (std::size_t p = 0; p < phase_count; ++p) phases[std::string(phase_names[p])] = times.phase_s[p];
            of_scheme["layers"].push_back(
                {{"layers", layers[i]},
                 {"epoch_s", median(seconds[i])},
                 {"calls_s", world.size() > 1 ? calls_s(g, scheme, layers[i], epochs) : 0.0},
                 {"phases", std::move(phases)}});
        }
        result.push_back(std::move(of_scheme));
    }
    return result;
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    return gnnbench::bench::rank_main(argc, argv, "epoch_ranks", gnnbench::bench::measured);
}
