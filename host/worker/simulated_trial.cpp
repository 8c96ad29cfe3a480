#include "worker/simulated_trial.hpp"

#include <chrono>
#include <cstdio>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/simulation/simulation.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/transpose.hpp>
#include <gnnbench/usize.hpp>

#include "data/memory_budget.hpp"
#include "plugin/arithmetic.hpp"
#include "plugin/backend_memory.hpp"
#include "spec/partition_key.hpp"
#include "spec/program_file.hpp"
#include "spec/setting.hpp"
#include "worker/expected_workload.hpp"
#include "worker/measurement.hpp"
#include "worker/verify/verification_line.hpp"
#include "worker/verify/verified_training.hpp"
#include "worker/workload.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double wall_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What all ranks of a simulated trial share.
class SimulatedTrial {
public:
    explicit SimulatedTrial(const TrialRequest& request)
        : request_(request),
          cell_(request.cell),
          strategy_(catalog_.strategy(cell_.scheme.name)),
          partitioner_(catalog_.partitioner(cell_.partitioner.name)),
          plugin_(catalog_.kernel(cell_.kernel.name)),
          machine_(SimulatedChoice(cell_.kernel.params.text("machine")).load(cell_.scheme.name)),
          record_(alone_, request.journal, request.trial, true) {}

    TrialEnd run() {
        const auto start = Clock::now();
        const bool verifies = request_.purpose != Purpose::measure;
        if (verifies && !has_values()) return unverified();
        simulation::Simulation ranks(machine_, network(), cell_.gpus);
        write_start();
        const bool expected = is_expected(*cell_.dataset.source);
        if (expected)
            expect();
        else
            load();
        if (const std::string reason = why_unsupported(); !reason.empty()) return {TrialStatus::skipped, reason};
        if (expected)
            expect_parts();
        else
            partition();
        if (!expected && !machine_.device.gather.empty()) ranks.columns_of_graph(columns_of_graph());
        if (has_values()) require_memory();
        if (verifies) reference_ = reference();
        building_ = Clock::now();
        start_ = start;
        TrialEnd end;
        ranks.run([&](const ProcessGroup& world) { verifies ? verify_rank(world, end) : run_rank(world, end); });
        const simulation::SimulationCounts counts = ranks.counts();
        end.notes += fmt::format("{}simulated {} ranks, {:.4g} s of virtual time, in {:.1f} s: {} turns, {} steps",
                                 end.notes.empty() ? "" : "\n", cell_.gpus, ranks.now_s(), wall_since(start),
                                 counts.switches, counts.happenings);
        return end;
    }

    void write_end(const TrialEnd& end) { record_.write_end(end); }

private:
    simulation::NetworkModel network() const {
        return cell_.kernel.params.choice("network") == "ring" ? simulation::NetworkModel::ring
                                                               : simulation::NetworkModel::links;
    }
    bool has_values() const { return simulates_values(cell_); }
    Setting setting() const { return {cell_.gpus, model_, train_, cell_.scheme.params}; }
    Problem problem() {
        Slowdown declared = cell_.slowdown;
        declared.seed = train_.seed;
        return {data_,    *index_, model_,  train_,  cell_.scheme.params, initial_.get(), cell_.gpus,
                declared, 1,       nullptr, &shared_};
    }
    void load() {
        const auto start = Clock::now();
        Workload work = load_workload(request_, alone_);
        data_ = work.data;
        model_ = std::move(work.model);
        train_ = std::move(work.train);
        initial_ = std::move(work.initial);
        synthetic_ = work.store.manifest().synthetic;
        sample_ = std::move(work.sample);
        store_.emplace(std::move(work.store));
        load_s_ = wall_since(start);
    }
    void expect() {
        expected_.emplace(expected_dataset(*cell_.dataset.source));
        data_ = expected_->view();
        model_ = model_for(cell_, data_);
        train_ = complete_train(cell_);
        initial_ = read_weights(cell_.initial_weights, model_);
    }
    void partition() {
        const auto start = Clock::now();
        // Every rank reads columns of the graph, so its transpose is made once for all.
        graph_.emplace(data_.graph);
        data_.graph = graph_->view();
        load_s_ += wall_since(start);
        const PartitionPlace place = partition_place();
        MadePartition made =
            partition_on_root(*partitioner_, partition_task(), alone_, sample_ ? nullptr : &place);
        partition_s_ = made.wall_s;
        index_.emplace(made.partition);
        quality_ = measure_quality(data_.graph, made.partition);
    }
    void expect_parts() {
        const Part parts = strategy_->partition_need(setting()).parts;
        auto graph = std::make_shared<const ExpectedGraph>(expected_under(expected_->dataset(), cell_, parts));
        index_.emplace(expected_parts(*graph, parts));
        const ExpectedQuality expected = expected_quality(*graph, *index_, model_.self_loops);
        quality_ = expected.quality;
        const bool local = graph->outline().locality && parts > 1;
        synthetic_ = {interval_text(expected, expected_->dataset(), local)};
        share_expected_graph(shared_, std::move(graph));
        shared_.of<TrainVertices>().count = std::make_shared<const std::int64_t>(expected_->train_vertices());
    }

    simulation::ColumnReads columns_of_graph() const {
        const GraphView& graph = data_.graph;
        std::vector<std::int32_t> counts(usize(graph.vertices()), model_.self_loops ? 1 : 0);
        for (const std::int32_t c : graph.indices) ++counts[usize(c)];
        return simulation::column_reads(counts);
    }

    PartitionTask partition_task() const {
        return {.dataset = data_,
                .model = model_,
                .need = strategy_->partition_need(setting()),
                .params = cell_.partitioner.params,
                .seed = train_.seed};
    }
    PartitionPlace partition_place() const {
        const PluginDescription plugin = catalog_.find(PluginKind::partitioner, cell_.partitioner.name);
        Cell cell = cell_;
        cell.dataset.digest = store_->manifest().digest;
        return {PartitionCache(partition_folder(request_.store)),
                partition_key(cell, strategy_->partition_need(setting()), plugin.file)};
    }

    std::string why_unsupported() const {
        std::string reason = plugin_->why_unsupported(kernel_setting(nullptr));
        if (reason.empty()) reason = strategy_->why_unsupported(setting());
        if (reason.empty())
            reason = why_not_served(*partitioner_,
                                    {data_.graph.vertices(), data_.graph.edges(), !data_.graph.weights.empty()},
                                    strategy_->partition_need(setting()), cell_.partitioner.params);
        if (reason.empty() && !expected_) reason = why_weights_unusable(Adjacency(data_.graph, model_));
        if (reason.empty() && expected_)
            reason = why_not_expected(cell_, *strategy_, strategy_->partition_need(setting()));
        return reason;
    }

    /// Contents of all ranks' memory lie in this process. What else it needs is little beside them.
    void require_memory() {
        const auto element = static_cast<std::int64_t>(size_of(dtype()));
        const std::int64_t entries = data_.graph.edges() + (model_.self_loops ? data_.graph.vertices() : 0);
        std::int64_t bytes = 2 * entries * (element + 4);  // Â and its transpose, once each
        for (int rank = 0; rank < cell_.gpus; ++rank) bytes += strategy_->stated_memory(problem(), rank, element);
        const std::uint64_t needed = static_cast<std::uint64_t>(bytes), available = available_memory_bytes();
        if (needed > available)
            throw Unsupported(
                fmt::format("values: true takes at least {} of this host's memory for {} ranks' "
                            "matrices, and {} are available",
                            memory_text(needed), cell_.gpus, memory_text(available)));
    }

    DType dtype() const { return cell_.precision == "float64" ? DType::f64 : DType::f32; }

    /// `world`: as a rank sees it; nullptr: for none.
    KernelSetting kernel_setting(const ProcessGroup* world) const { return kernel_setting(world, dtype()); }
    KernelSetting kernel_setting(const ProcessGroup* world, DType dtype) const {
        return {.dtype = dtype,
                .threads = 1,
                .local_rank = world ? world->rank() % machine_.devices_per_node : 0,
                .local_ranks = std::min(cell_.gpus, machine_.devices_per_node),
                .params = cell_.kernel.params,
                .widths = model_.widths,
                .heads = model_.most_heads(),
                .ranks = world,
                .arithmetic = has_values() ? arithmetic_of_this_machine(catalog_, dtype) : nullptr};
    }

    /// Nothing is computed, so nothing can agree with the reference.
    TrialEnd unverified() {
        record_.write("verification", to_json(VerificationLine{.status = VerificationStatus::unverified,
                                                               .reason = "simulated: nothing is computed",
                                                               .volume_equal = {},
                                                               .sampled_vertices = 0,
                                                               .detail = {},
                                                               .checks = json::object()}));
        return {};
    }

    void write_start() {
        char host[256] = {};
        gethostname(host, sizeof host - 1);
        const auto n = static_cast<std::size_t>(cell_.gpus);
        const std::string device = fmt::format("simulated {} ({})", machine_.device.name, machine_.name);
        record_.write("start", {{"ranks", cell_.gpus},
                                {"hosts", std::vector<std::string>(n, host)},
                                {"pids", std::vector<std::int64_t>(n, getpid())},
                                {"device", std::vector<std::string>(n, device)},
                                {"mpi", "none: simulated"}});
    }

    /// One rank's turn: as in a trial of processes, from its back end on.
    void run_rank(const ProcessGroup& world, TrialEnd& end_of_trial) {
        TrialRecord record(world, request_.journal, request_.trial, true);
        const auto backend = plugin_->create(kernel_setting(&world));
        VolumeCounter counter;
        Communicator communicator(backend->connect(world), *backend, counter);
        communicator.separate_wait(cell_.separate_wait);
        const AnyTrainer trainer = strategy_->make_trainer(problem(), {*backend, communicator, world});
        world.barrier();
        const auto element_bytes = static_cast<std::int64_t>(size_of(backend->dtype()));
        const StatedVolume stated = strategy_->stated_volume(problem(), world.rank(), element_bytes, 0);
        const bool every_epoch = stated.means == StatedVolume::Means::every_epoch;
        write_setup(record, *backend, base(trainer), every_epoch ? stated.volume : Volume(),
                    strategy_->stated_memory(problem(), world.rank(), element_bytes));
        counter.take();  // set-up's communication does not count towards an epoch
        Measurement m{.request = request_,
                      .group = world,
                      .record = record,
                      .backend = *backend,
                      .counter = counter,
                      .vertices = data_.graph.vertices(),
                      .as_stated = {}};
        if (!every_epoch)
            m.as_stated = [&](std::int64_t epoch, const Volume& counted) {
                return difference(strategy_->stated_volume(problem(), world.rank(), element_bytes, epoch), counted)
                    .empty();
            };
        const auto* together = std::get_if<std::unique_ptr<CollectiveTrainer>>(&trainer);
        TrialEnd end = together ? measure_epochs(m, **together)
                                : measure_workers(m, *std::get<std::unique_ptr<IndependentTrainer>>(trainer));
        if (world.rank() == 0) end_of_trial = std::move(end);
    }

    /// As in a trial of processes.
    void verify_rank(const ProcessGroup& world, TrialEnd& end_of_trial) {
        TrialRecord record(world, request_.journal, request_.trial, true);
        const std::string approximation = strategy_->approximation_of(model_, cell_.scheme.params);
        const Problem trained = problem();
        const TrainSpec own = complete_train(cell_);
        const auto backend = [&](DType t) { return plugin_->create(kernel_setting(&world, t)); };
        const VerifiedTraining v = verify_training({.strategy = *strategy_,
                                                    .problem = trained,
                                                    .group = world,
                                                    .backend = [&] { return backend(dtype()); },
                                                    .float64_backend = [&] { return backend(DType::f64); },
                                                    .dtype = dtype(),
                                                    .own_training = &own,
                                                    .epochs = request_.verify.epochs,
                                                    .separate_wait = cell_.separate_wait,
                                                    .catalog = &catalog_,
                                                    .approximate = !approximation.empty()},
                                                   record.writes() ? &*reference_ : nullptr);
        const std::string notes = merged_by_rank(world.all_gather(v.notes));
        if (!record.writes()) return;
        record.write("verification", to_json(line_of(v, {.approximation = approximation,
                                                         .sampled_vertices = sample_ ? data_.graph.vertices() : 0,
                                                         .float64_kernel = cell_.kernel.name,
                                                         .in_virtual_time = true})));
        end_of_trial.notes = notes;
    }

    ReferenceResult reference() const {
        return cached_reference(request_.verify.reference, store_->manifest().digest, catalog_,
                                {.data = data_,
                                 .model = model_,
                                 .train = train_,
                                 .initial = initial_.get(),
                                 .epochs = request_.verify.epochs,
                                 .trained_features = trains_features(cell_.scheme.params)});
    }

    void write_setup(TrialRecord& record, Backend& backend, const Trainer& trainer, const Volume& stated,
                     std::int64_t stated_memory) {
        const json ranks = record.gather({{"stated", to_json(stated)},
                                          {"memory", backend.memory().current_bytes},
                                          {"stated_memory", stated_memory}});
        if (!record.writes()) return;
        json all_stated = json::array(), memory = json::array(), all_stated_memory = json::array();
        for (const json& rank : ranks) {
            all_stated.push_back(rank["stated"]);
            memory.push_back(rank["memory"]);
            all_stated_memory.push_back(rank["stated_memory"]);
        }
        record.write("setup", {{"seconds",
                                {{"load", load_s_},
                                 {"partition", expected_ ? json() : json(partition_s_)},  // none is made
                                 {"build", wall_since(building_)},
                                 {"total", wall_since(start_)}}},
                               {"partition", to_json(quality_)},
                               {"dataset", dataset_json(data_, synthetic_)},
                               {"aggregated_input", model_.aggregate_input},
                               {"approximation", strategy_->approximation_of(model_, cell_.scheme.params)},
                               {"stated", std::move(all_stated)},
                               {"memory_bytes", std::move(memory)},
                               {"stated_memory_bytes", std::move(all_stated_memory)},
                               {"notes", notes_of(trainer, backend)}});
    }

    const TrialRequest& request_;
    const Cell& cell_;
    const PluginCatalog catalog_;
    std::unique_ptr<Strategy> strategy_;
    std::unique_ptr<Partitioner> partitioner_;
    std::unique_ptr<BackendPlugin> plugin_;
    simulation::Machine machine_;
    const ProcessGroup alone_ = ProcessGroup::alone();
    TrialRecord record_;
    std::optional<Store> store_;                ///< of what data_ shows, or
    std::optional<OwnedDataset> sample_;        ///< of that, or
    std::optional<ExpectedWorkload> expected_;  ///< of a graph that is not there
    std::optional<WithTranspose> graph_;
    DatasetView data_;
    ModelSpec model_;
    TrainSpec train_;
    std::unique_ptr<ModelWeights> initial_;
    std::vector<std::string> synthetic_;
    std::optional<IndexMap> index_;
    PartitionQuality quality_;
    std::optional<ReferenceResult> reference_;  ///< of a verification
    SharedSetup shared_;  ///< after the strategy, whose plugin has the code that destroys what it made
    double load_s_ = 0, partition_s_ = 0;  ///< of this machine
    Clock::time_point building_, start_;
};

/// As the handlers of a trial of processes (rank.cpp), without others to end.
TrialEnd ended_by_exception() {
    try {
        throw;
    } catch (const OutOfMemory& e) {
        return {TrialStatus::oom, e.what()};
    } catch (const std::bad_alloc&) {
        return {TrialStatus::oom, "this host has no memory left to simulate so many ranks"};
    } catch (const Unsupported& e) {
        return {TrialStatus::skipped, e.what()};
    } catch (const std::exception& e) {
        return {TrialStatus::failed, e.what()};
    }
}

}  // namespace

std::optional<TrialRequest> simulated_request(const std::string& path) {
    try {
        TrialRequest request = read_request(path);
        if (request.cell.scheme.is_program()) return std::nullopt;
        const PluginCatalog catalog;
        const PluginDescription kernel = catalog.find(PluginKind::kernel, request.cell.kernel.name);
        if (simulates(kernel.file)) return request;
    } catch (const std::exception&) {
        return std::nullopt;  // whoever runs the request as a trial of processes says what is wrong with it
    }
    return std::nullopt;
}

int run_simulated_trial(const TrialRequest& request) {
    SimulatedTrial trial(request);
    TrialEnd end;
    try {
        end = trial.run();
    } catch (...) {
        end = ended_by_exception();
        std::fprintf(stderr, "gnnbench-worker: %s\n", end.reason.c_str());
    }
    if (request.purpose == Purpose::measure) end.energy = EnergyMeter::none("simulated: no energy is predicted");
    trial.write_end(end);
    return end.status == TrialStatus::ok || end.status == TrialStatus::skipped ? 0 : 1;
}

}  // namespace gnnbench
