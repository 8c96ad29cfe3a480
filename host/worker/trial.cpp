#include "worker/trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/metered_device.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/layer_zero.hpp>

#include "check/product_probe.hpp"
#include "core/plural.hpp"
#include "partition/balance.hpp"
#include "spec/partition_key.hpp"
#include "spec/setting.hpp"
#include "worker/verify/late_step.hpp"
#include "worker/measurement.hpp"
#include "worker/verify/partition_check.hpp"
#include "worker/verify/verification.hpp"
#include "worker/verify/verification_line.hpp"
#include "worker/verify/verified_training.hpp"
#include "worker/workload.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The most memory of this process that has been in use at once, mapped files included.
std::int64_t peak_resident_bytes() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return std::int64_t{use.ru_maxrss} * 1024;
}

/// One trial on one rank: everything constructed at set-up, in order.
class Trial {
public:
    Trial(const TrialRequest& request, const ProcessGroup& group, TrialRecord& record)
        : request_(request), cell_(request.cell), group_(group), record_(record) {}

    TrialEnd run() {
        const auto start = std::chrono::steady_clock::now();
        if (group_.size() != cell_.gpus)
            throw EnvironmentError(fmt::format(
                "{} of this trial found each other, but its cell has {}: the launcher does not match "
                "the MPI that gnnbench was built with (under Slurm: srun --mpi=list, and launcher.mpi)",
                plural(group_.size(), "rank"), cell_.gpus));
        plugins_ = load_plugins(cell_, catalog_, group_);
        const KernelSetting device = kernel_setting(cell_, group_);
        write_start(device);
        work_.emplace(load_workload(request_, group_));
        if (const std::string reason = agreed_reason(device); !reason.empty())
            return {TrialStatus::skipped, reason};
        const double load_s = seconds_since(start);

        double partition_s = 0;  // that it took when it was made
        try {
            const PartitionPlace place = partition_place();
            MadePartition made = partition_on_root(*plugins_.partitioner, partition_task(work_->data), group_,
                                                   work_->sample ? nullptr : &place);
            partition_kept_ = made.kept;
            partition_s = made.wall_s;
            if (group_.rank() == 0)
                unbalanced_ = why_not_balanced(work_->data.graph, made.partition.part_of, made.partition.parts,
                                               cell_.partitioner.params);
            index_.emplace(shared_index(made.partition, group_, cost_.exchange));
            if (request_.purpose == Purpose::verify && request_.verify.asks_partitioner)
                answer_ = std::move(made.partition);
        } catch (const Unsupported& e) {
            return {TrialStatus::skipped, e.what()};
        }

        const auto building = std::chrono::steady_clock::now();
        backend_ = plugins_.backend->create(for_this_model(device));
        world_ = std::make_unique<Communicator>(backend_->connect(group_), *backend_, counter_);
        world_->separate_wait(cell_.separate_wait);
        trainer_ = plugins_.strategy->make_trainer(problem(), {*backend_, *world_, group_});
        cost_.prepare = backend_->prepare_cost();
        malloc_trim(0);  // what was cut, and is prepared now, leaves the process
        group_.barrier();
        const json seconds = {{"load", load_s},
                              {"partition", partition_s},
                              {"build", seconds_since(building)},
                              {"total", seconds_since(start)}};
        const SetupCost cost = cost_;
        const std::int64_t host_peak = peak_resident_bytes();
        // Statements walk the graph; training needs none, so they come after the clock of set-up has stopped.
        const StatedVolume stated = stated_volume(0);
        same_every_epoch_ = stated.means == StatedVolume::Means::every_epoch;
        write_setup(seconds, cost, host_peak, same_every_epoch_ ? stated.volume : Volume(),
                    plugins_.strategy->stated_memory(problem(), group_.rank(),
                                                     static_cast<std::int64_t>(size_of(backend_->dtype()))));
        counter_.take();  // set-up's communication does not count towards an epoch
        if (request_.purpose == Purpose::verify) return verify();
        TrialEnd end = measure();
        end.notes = notes();  // what was tuned in the first epochs is known now
        end.host_peak_bytes = record_.gather(peak_resident_bytes());
        if (can_check_late_step(end)) {
            record_.write_end(end);  // from here on the step's own limit holds
            check_late_step(end.epochs);
        }
        return end;
    }

private:
    KernelSetting for_this_model(KernelSetting device) const {
        device.widths = work_->model.widths;
        device.heads = work_->model.most_heads();
        return device;
    }

    Problem problem() {
        return {work_->data,          *index_,       work_->model, work_->train,           cell_.scheme.params,
                work_->initial.get(), group_.size(), slowdown(),   cell_.threads_per_rank, &cost_};
    }
    /// Verification trains the same at any pace, so it has none.
    Slowdown slowdown() const {
        if (request_.purpose == Purpose::verify) return {};
        Slowdown declared = cell_.slowdown;
        declared.seed = work_->train.seed;
        return declared;
    }
    StatedVolume stated_volume(std::int64_t epoch) {
        return plugins_.strategy->stated_volume(problem(), group_.rank(),
                                                static_cast<std::int64_t>(size_of(backend_->dtype())), epoch);
    }
    PartitionPlace partition_place() const {
        const PluginDescription plugin = catalog_.find(PluginKind::partitioner, cell_.partitioner.name);
        Cell cell = cell_;
        cell.dataset.digest = work_->store.manifest().digest;
        return {PartitionCache(partition_folder(request_.store)),
                partition_key(cell, plugins_.strategy->partition_need(setting()), plugin.file)};
    }
    PartitionTask partition_task(const DatasetView& data) const {
        return {.dataset = data,
                .model = work_->model,
                .need = plugins_.strategy->partition_need(setting()),
                .params = cell_.partitioner.params,
                .seed = work_->train.seed};
    }
    Setting setting() const { return {group_.size(), work_->model, work_->train, cell_.scheme.params}; }

    /// Why this cell cannot run here, from whichever rank cannot run it.
    std::string agreed_reason(const KernelSetting& device) const {
        std::string reason = plugins_.backend->why_unsupported(device);
        if (reason.empty()) reason = plugins_.strategy->why_unsupported(setting());
        if (reason.empty()) reason = why_not_slowed(cell_, *plugins_.strategy);
        if (reason.empty() && group_.rank() == 0)
            reason = why_weights_unusable(Adjacency(work_->data.graph, work_->model, cell_.threads_per_rank));
        if (reason.empty())
            reason = why_not_served(
                *plugins_.partitioner,
                {work_->data.graph.vertices(), work_->data.graph.edges(), !work_->data.graph.weights.empty()},
                plugins_.strategy->partition_need(setting()), cell_.partitioner.params);
        for (const std::string& r : group_.all_gather(reason))
            if (!r.empty()) return r;
        return {};
    }

    void write_start(const KernelSetting& device) {
        char host[256] = {};
        gethostname(host, sizeof host - 1);
        const bool usable = plugins_.backend->why_unsupported(device).empty();
        const json all = record_.gather({{"host", host},
                                         {"pid", static_cast<std::int64_t>(getpid())},
                                         {"device", usable ? plugins_.backend->device_name(device) : "none"}});
        json hosts, pids, devices;
        for (const json& rank : all) {
            hosts.push_back(rank["host"]);
            pids.push_back(rank["pid"]);
            devices.push_back(rank["device"]);
        }
        record_.write("start", {{"ranks", group_.size()},
                                {"hosts", hosts},
                                {"pids", pids},
                                {"device", devices},
                                {"mpi", group_.library()}});
    }

    /// Collective.
    std::string notes() const {
        std::string said = merged_by_rank(group_.all_gather(notes_of(base(trainer_), *backend_)));
        const auto before = [&](const std::string& line) { said = line + (said.empty() ? "" : "\n") + said; };
        if (!unbalanced_.empty()) before("partition: " + unbalanced_);
        if (partition_kept_) before("partition: kept from an earlier trial");
        return said;
    }

    void write_setup(json seconds, const SetupCost& cost, std::int64_t host_peak, const Volume& stated,
                     std::int64_t stated_memory) {
        const json ranks = record_.gather({{"stated", to_json(stated)},
                                           {"memory", backend_->memory().current_bytes},
                                           {"stated_memory", stated_memory},
                                           {"cost", to_json(cost)},
                                           {"host_peak", host_peak}});
        json all_stated = json::array(), memory = json::array(), all_stated_memory = json::array(),
             costs = json::array(), peaks = json::array();
        for (const json& rank : ranks) {
            all_stated.push_back(rank["stated"]);
            memory.push_back(rank["memory"]);
            all_stated_memory.push_back(rank["stated_memory"]);
            costs.push_back(rank["cost"]);
            peaks.push_back(rank["host_peak"]);
        }
        const std::string said = notes();
        const PartitionQuality quality = quality_of(work_->data.graph, *index_, group_);
        if (!record_.writes()) return;
        record_.write("setup",
                      {{"seconds", std::move(seconds)},
                       {"partition", to_json(quality)},
                       {"dataset", dataset_json(work_->data, work_->store.manifest().synthetic)},
                       {"aggregated_input", work_->model.aggregate_input},
                       {"approximation", plugins_.strategy->approximation_of(work_->model, cell_.scheme.params)},
                       {"stated", std::move(all_stated)},
                       {"memory_bytes", std::move(memory)},
                       {"stated_memory_bytes", std::move(all_stated_memory)},
                       {"cost", std::move(costs)},
                       {"host_peak_bytes", std::move(peaks)},
                       {"notes", said}});
    }

    TrialEnd measure() {
        Measurement m{.request = request_,
                      .group = group_,
                      .record = record_,
                      .backend = *backend_,
                      .counter = counter_,
                      .vertices = work_->data.graph.vertices(),
                      .as_stated = {}};
        const auto* metered = dynamic_cast<const MeteredDevice*>(plugins_.backend.get());
        EnergyMeter energy(group_, metered ? metered->device_uuid(kernel_setting(cell_, group_)) : "",
                           request_.shares_host ? "other trials ran on this host at the same time (--jobs)" : "");
        m.energy = &energy;
        if (!same_every_epoch_)
            m.as_stated = [this](std::int64_t epoch, const Volume& counted) {
                return difference(stated_volume(epoch), counted).empty();
            };
        auto* epochs = std::get_if<std::unique_ptr<CollectiveTrainer>>(&trainer_);
        TrialEnd end = epochs ? measure_epochs(m, **epochs)
                              : measure_workers(m, *std::get<std::unique_ptr<IndependentTrainer>>(trainer_));
        end.energy = energy.trial();
        return end;
    }

    /// Asked for, and of a strategy that has something to be compared with.
    bool can_check_late_step(const TrialEnd& end) const {
        return request_.late_step && end.status == TrialStatus::ok && end.epochs > 0 && backend_->holds_values() &&
               plugins_.strategy->approximation(cell_.scheme.params).empty();
    }

    /// Everything that is measured has been recorded; so one step more is free.
    void check_late_step(std::int64_t epochs) {
        const Problem trained = problem();
        const auto rebuild = [&](const ModelWeights& weights) {
            trainer_ = {};
            const Problem anew{trained.dataset, trained.index, trained.model, trained.train,
                               trained.params,  &weights,      trained.ranks, {},
                               trained.threads};
            return plugins_.strategy->make_collective_trainer(anew, {*backend_, *world_, group_});
        };
        const bool fits =
            verifiable_vertices(work_->data, work_->model, request_.verify) == work_->data.graph.vertices();
        const LateStep late = gnnbench::check_late_step({.problem = trained,
                                                         .group = group_,
                                                         .catalog = catalog_,
                                                         .dtype = backend_->dtype(),
                                                         .epochs = epochs,
                                                         .reference_fits = fits,
                                                         .rebuild = rebuild},
                                                        *std::get<std::unique_ptr<CollectiveTrainer>>(trainer_));
        if (record_.writes()) record_.write("verification", to_json(line_of(late, epochs)));
    }

    /// The cell's back end in float64; where it has none, the reference's, which is said in the record.
    std::unique_ptr<Backend> float64_backend(std::string& name) const {
        KernelSetting wide = for_this_model(kernel_setting(cell_, group_));
        wide.dtype = DType::f64;
        const bool serves = group_.maximum({plugins_.backend->why_unsupported(wide).empty() ? 0.0 : 1.0})[0] == 0;
        name = serves ? cell_.kernel.name : "reference";
        return serves ? plugins_.backend->create(wide)
                      : catalog_.kernel("reference")->create({.dtype = DType::f64, .threads = wide.threads});
    }

    /// What set-up made, gone: a verification's trainings are made one after another.
    void release_training() {
        trainer_ = {};
        world_.reset();
        backend_.reset();
    }

    std::optional<ReferenceResult> reference() const {
        if (!record_.writes()) return std::nullopt;
        return cached_reference(request_.verify.reference, work_->store.manifest().digest, catalog_,
                                {.data = work_->data,
                                 .model = work_->model,
                                 .train = work_->train,
                                 .initial = work_->initial.get(),
                                 .epochs = request_.verify.epochs,
                                 .trained_features = trains_features(cell_.scheme.params)});
    }

    TrialEnd verify() {
        const std::string approximation = plugins_.strategy->approximation_of(work_->model, cell_.scheme.params);
        const DType dtype = backend_->dtype();
        release_training();
        const std::optional<ReferenceResult> known = reference();  // where it is approximate, for the step size
        group_.barrier();
        std::string float64_name;
        const Problem trained = problem();
        const TrainSpec own = complete_train(cell_);
        VerifiedTraining v = verify_training(
            {.strategy = *plugins_.strategy,
             .problem = trained,
             .group = group_,
             .backend = [&] { return plugins_.backend->create(for_this_model(kernel_setting(cell_, group_))); },
             .float64_backend = [&] { return float64_backend(float64_name); },
             .dtype = dtype,
             .own_training = &own,
             .epochs = request_.verify.epochs,
             .separate_wait = cell_.separate_wait,
             .threads = cell_.threads_per_rank,
             .catalog = &catalog_,
             .approximate = !approximation.empty()},
            known ? &*known : nullptr);
        const double probe_s = work_->sample ? probe_full_size(v) : 0;
        if (request_.verify.asks_partitioner) ask_partitioner(v);
        if (record_.writes())
            record_.write("verification",
                          to_json(line_of(v, {.approximation = approximation,
                                              .sampled_vertices = work_->sample ? work_->data.graph.vertices() : 0,
                                              .float64_kernel = float64_name,
                                              .probe_s = probe_s})));
        TrialEnd end;
        end.notes = merged_by_rank(group_.all_gather(v.notes));
        return end;
    }

    void ask_partitioner(VerifiedTraining& v) {
        Ledger ledger(group_.rank());
        check_partitioner(answer_, *plugins_.partitioner, partition_task(work_->data), group_, ledger);
        gather(ledger, group_, v);
    }

    /// The graph was sampled, and formats depend on size: one epoch of the whole, then every product that was made in
    /// it is tested by itself. Seconds.
    double probe_full_size(VerifiedTraining& v) {
        const auto start = std::chrono::steady_clock::now();
        const DatasetView whole = work_->store.view(cell_.dataset.split);
        const PartitionPlace place = partition_place();
        SetupPart exchange;
        const IndexMap index =
            shared_index(partition_on_root(*plugins_.partitioner, partition_task(whole), group_, &place).partition,
                         group_, exchange);
        const Problem full{
            whole,         index, work_->model,          work_->train, cell_.scheme.params, work_->initial.get(),
            group_.size(), {},    cell_.threads_per_rank};
        ProductProbe backend(plugins_.backend->create(for_this_model(kernel_setting(cell_, group_))));
        Communicator world(backend.connect(group_), backend, counter_);
        const AnyTrainer made = plugins_.strategy->make_trainer(full, {backend, world, group_});
        const auto* trainer = std::get_if<std::unique_ptr<CollectiveTrainer>>(&made);
        // Batches are no larger than those that were verified, and their matrices are not prepared.
        if (!trainer || (*trainer)->steps(0) > 1) return 0;
        timed_epoch(group_, backend, **trainer, 0);
        counter_.take();
        Ledger ledger(group_.rank());
        ledger.enter_epoch(0);
        backend.test(ledger, work_->train.seed);
        gather(ledger, group_, v);
        return seconds_since(start);
    }

    const TrialRequest& request_;
    const Cell& cell_;
    const ProcessGroup& group_;
    TrialRecord& record_;
    const PluginCatalog catalog_;
    CellPlugins plugins_;
    std::optional<Workload> work_;
    bool partition_kept_ = false;  ///< made by an earlier trial
    std::string unbalanced_;       ///< why a part is heavier than the partitioner was asked for; on rank 0
    Partition answer_;             ///< on rank 0 where the partitioner is to be asked again
    SetupCost cost_;
    std::optional<IndexMap> index_;
    std::unique_ptr<Backend> backend_;
    VolumeCounter counter_;
    std::unique_ptr<Communicator> world_;
    AnyTrainer trainer_;
    bool same_every_epoch_ = true;  ///< the stated volume
};

}  // namespace

TrialEnd run_trial(const TrialRequest& request, const ProcessGroup& group, TrialRecord& record) {
    return Trial(request, group, record).run();
}

}  // namespace gnnbench
