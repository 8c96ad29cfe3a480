#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <gnnbench/communicator.hpp>

#include "../../contract/full_batch.hpp"
#include "alternating.hpp"
#include "measure.hpp"

namespace gnnbench::bench {
namespace {

using nlohmann::json;

/// One rank's best time of each call, by operation, in order; ours and plain MPI's.
using CallTimes = std::map<CommOp, std::vector<double>>;

void keep_best(CallTimes& best, const CallTimes& now) {
    for (const auto& [op, seconds] : now) {
        auto& of_op = best[op];
        of_op.resize(seconds.size(), std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < seconds.size(); ++i) of_op[i] = std::min(of_op[i], seconds[i]);
    }
}

double sum(const CallTimes& times, CommOp op) {
    const auto found = times.find(op);
    double s = 0;
    if (found != times.end())
        for (const double t : found->second) s += t;
    return s;
}

/// The times of an epoch's calls, from its spans. Each call is complete before the next begins, so spans that
/// overlap are one call's: an exchange with an event for each receive.
CallTimes of_spans(const Trace& trace) {
    std::map<CommOp, std::vector<std::pair<double, double>>> calls;
    for (const Span& s : trace.spans()) {
        if (s.phase != Phase::comm) continue;
        const auto name = std::find(comm_op_names.begin(), comm_op_names.end(), s.operation);
        auto& of_op = calls[static_cast<CommOp>(name - comm_op_names.begin())];
        if (!of_op.empty() && s.begin_s < of_op.back().second)
            of_op.back().second = std::max(of_op.back().second, s.end_s);
        else
            of_op.emplace_back(s.begin_s, s.end_s);
    }
    CallTimes times;
    for (const auto& [op, spans] : calls)
        for (const auto& [begin, end] : spans) times[op].push_back(end - begin);
    return times;
}

CallTimes of_turn(const Turn& turn) {
    CallTimes times;
    for (const Turn::Call& c : turn.calls) times[c.operation].push_back(c.seconds);
    return times;
}

/// A trainer on a back end of its own, over one transport.
class Side {
public:
    Side(const Ground& g, const Strategy& strategy, const Problem& problem, const char* transport)
        : world_(g.world),
          backend_(cpu_backend(g, transport)),
          communicator_(make_alternating_transport(backend_->connect(g.world),
                                                   *static_cast<MPI_Comm*>(g.world.native()), turn_),
                        *backend_, counter_),
          trainer_((communicator_.separate_wait(true),
                    strategy.make_collective_trainer(problem, {*backend_, communicator_, g.world}))) {
        counter_.take();  // set-up's
        epoch(Maker::ours);
        counter_.take();
        spans_ = epoch(Maker::ours);
        volume_ = counter_.take();
    }

    /// The times of its calls; packing's is kept.
    CallTimes epoch(Maker maker) {
        turn_ = {maker, {}};
        world_.barrier();
        backend_->trace().begin_epoch();
        trainer_->train_epoch(epoch_++);
        backend_->synchronize(StreamRole::compute);
        backend_->trace().end_epoch();
        const EpochTimes times = backend_->trace().times();
        pack_s_ = std::min(pack_s_, times.phase_s[static_cast<std::size_t>(Phase::pack)]);
        return maker == Maker::ours ? of_spans(backend_->trace()) : of_turn(turn_);
    }

    const Volume& volume() const { return volume_; }
    double calls(CommOp op) const { return spans_.contains(op) ? static_cast<double>(spans_.at(op).size()) : 0; }
    double pack_s() const { return pack_s_; }
    std::string notes() const { return backend_->notes(); }

private:
    const ProcessGroup& world_;
    std::unique_ptr<Backend> backend_;
    VolumeCounter counter_;
    Turn turn_;
    Communicator communicator_;
    std::unique_ptr<CollectiveTrainer> trainer_;
    std::int64_t epoch_ = 0;
    CallTimes spans_;
    Volume volume_;
    double pack_s_ = std::numeric_limits<double>::infinity();
};

/// What was the best of each call, by who made it.
struct Best {
    CallTimes shared, mpi, non_blocking, blocking;
};

json row(const ProcessGroup& world, std::string_view operation, std::vector<double> values) {
    const auto mean = mean_over_ranks(world, std::move(values));
    return {{"operation", operation}, {"calls", mean[0]},
            {"sent_bytes", mean[1]},  {"shared_s", mean[2]},
            {"mpi_s", mean[3]},       {"non_blocking_s", mean[4]},
            {"blocking_s", mean[5]},  {"plain_s", std::min(mean[4], mean[5])}};
}

json operations(const ProcessGroup& world, const Side& shared, const Side& mpi, const Best& best) {
    json rows = json::array();
    for (std::size_t i = 0; i < comm_op_names.size(); ++i) {
        const auto op = static_cast<CommOp>(i);
        double sent = 0;
        for (const auto& [key, t] : mpi.volume())
            if (key.operation == op) sent += static_cast<double>(t.sent_bytes);
        json r = row(world, comm_op_names[i],
                     {mpi.calls(op), sent, sum(best.shared, op), sum(best.mpi, op), sum(best.non_blocking, op),
                      sum(best.blocking, op)});
        if (r["calls"] != 0) rows.push_back(std::move(r));
    }
    rows.push_back(row(world, "packing", {0, 0, shared.pack_s(), mpi.pack_s(), mpi.pack_s(), mpi.pack_s()}));
    return rows;
}

}  // namespace

std::string Scheme::text() const {
    std::string t = name;
    for (const auto& [key, value] : params) t += fmt::format(" {}: {}", key, value);
    return t;
}

std::vector<Scheme> schemes(const PluginCatalog& catalog) {
    std::vector<Scheme> out = {{"cagnet-1d", {}},
                               {"cagnet-1.5d", {}},
                               {"cagnet-2d", {}},
                               {"cagnet-2d", {{"travel", "true"}}},
                               {"cagnet-3d", {}},
                               {"cagnet-3d", {{"fibre", "all_reduce"}}},
                               {"cagnet-3d", {{"fibre", "released"}}},
                               {"sa-1d", {}},
                               {"sa-1d", {{"backward", "return"}}},
                               {"sa-1.5d", {}},
                               {"demirci-p2p", {}},
                               {"bns-gcn", {}},
                               {"mg-gcn", {{"overlap", "false"}}},
                               {"mg-gcn", {{"overlap", "false"}, {"tiling", "column"}}},
                               {"plexus-3d", {}},
                               {"plexus-3d", {{"sparse_all_reduce", "true"}}}};
    // Whatever other strategies there are, with their defaults.
    const std::size_t known = out.size();
    for (const std::string& name : catalog.names(PluginKind::strategy)) {
        const bool listed = std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(known),
                                        [&](const Scheme& s) { return s.name == name; });
        if (!listed && name != "serial" && !contract::trains_on_batches(catalog, name)) out.push_back({name, {}});
    }
    return out;
}

std::unique_ptr<Backend> cpu_backend(const Ground& g, const char* transport) {
    const auto declared = g.catalog.find(PluginKind::kernel, "cpu").params;
    Params params(declared);
    for (const ParamDecl& p : declared)
        if (std::string_view(p.name) == "transport") params.set(p, transport);
    return g.catalog.kernel("cpu")->create({.threads = 1, .local_ranks = g.world.size(), .params = params});
}

std::vector<double> mean_over_ranks(const ProcessGroup& world, std::vector<double> values) {
    values = world.sum(std::move(values));
    for (double& v : values) v /= world.size();
    return values;
}

namespace {

/// measure(strategy, problem) of a scheme on the graph, in random parts; {scheme, skipped} where it cannot be run.
json measured_with(const Ground& g, const Scheme& scheme, auto&& measure) {
    const auto strategy = g.catalog.strategy(scheme.name);
    const auto declared = g.catalog.find(PluginKind::strategy, scheme.name).params;
    Params params(declared);
    for (const auto& [key, value] : scheme.params)
        for (const ParamDecl& p : declared)
            if (key == p.name) params.set(p, value);
    ModelSpec model;
    model.widths = g.widths;
    TrainSpec train;
    train.weight_decay.assign(g.widths.size() - 1, 0);
    const Setting setting{g.world.size(), model, train, params};
    std::string reason = strategy->why_unsupported(setting);
    if (reason.empty()) reason = strategy->approximation(params);
    if (!reason.empty()) return {{"scheme", scheme.text()}, {"skipped", reason}};

    const PartitionNeed need = strategy->partition_need(setting);
    const char* const divides = need.vertex_cut ? "libra" : "random";
    const Params none(g.catalog.find(PluginKind::partitioner, divides).params);
    const Partition partition = g.catalog.partitioner(divides)->partition(
        {.dataset = g.data, .model = model, .need = need, .params = none, .seed = 1});
    const IndexMap index(partition);
    const Problem problem{g.data, index, model, train, params, nullptr, g.world.size()};
    return measure(*strategy, problem);
}

/// Whole epochs as they run, nothing added: operations overlap with work where the strategy lets them.
class WholeEpochs {
public:
    WholeEpochs(const Ground& g, const Strategy& strategy, const Problem& problem, const char* transport)
        : world_(g.world),
          backend_(cpu_backend(g, transport)),
          communicator_(backend_->connect(g.world), *backend_, counter_),
          trainer_(strategy.make_collective_trainer(problem, {*backend_, communicator_, g.world})) {
        run();
        wall_s_.clear();
        exposed_s_.clear();
    }
    void run() {
        world_.barrier();
        backend_->trace().begin_epoch();
        trainer_->train_epoch(epoch_++);
        backend_->synchronize(StreamRole::compute);
        backend_->trace().end_epoch();
        const EpochTimes times = backend_->trace().times();
        wall_s_.push_back(times.wall_s);
        exposed_s_.push_back(times.phase_s[static_cast<std::size_t>(Phase::comm)] +
                             times.phase_s[static_cast<std::size_t>(Phase::pack)]);
    }
    double wall_s() { return median(wall_s_); }
    double exposed_s() { return median(exposed_s_); }

private:
    static double median(std::vector<double>& v) {
        std::ranges::nth_element(v, v.begin() + std::ssize(v) / 2);
        return v[v.size() / 2];
    }

    const ProcessGroup& world_;
    std::unique_ptr<Backend> backend_;
    VolumeCounter counter_;
    Communicator communicator_;
    std::unique_ptr<CollectiveTrainer> trainer_;
    std::int64_t epoch_ = 0;
    std::vector<double> wall_s_, exposed_s_;
};

}  // namespace

json measure_epochs(const Ground& g, const Scheme& scheme) {
    return measured_with(g, scheme, [&](const Strategy& strategy, const Problem& problem) -> json {
        WholeEpochs shared(g, strategy, problem, "shared"), mpi(g, strategy, problem, "mpi");
        for (int round = 0; round < g.rounds; ++round) {
            shared.run();
            mpi.run();
        }
        const auto mean =
            mean_over_ranks(g.world, {shared.wall_s(), shared.exposed_s(), mpi.wall_s(), mpi.exposed_s()});
        return {{"scheme", scheme.text()},
                {"shared_s", mean[0]},
                {"shared_exposed_s", mean[1]},
                {"mpi_s", mean[2]},
                {"mpi_exposed_s", mean[3]}};
    });
}

json measure_scheme(const Ground& g, const Scheme& scheme) {
    return measured_with(g, scheme, [&](const Strategy& strategy, const Problem& problem) -> json {
        Side shared(g, strategy, problem, "shared"), mpi(g, strategy, problem, "mpi");
        Best best;
        for (int round = -1; round < g.rounds; ++round) {
            const CallTimes by_shared = shared.epoch(Maker::ours), by_mpi = mpi.epoch(Maker::ours),
                            non_blocking = mpi.epoch(Maker::non_blocking), blocking = mpi.epoch(Maker::blocking);
            if (round < 0) continue;  // pages are touched, paths are known
            keep_best(best.shared, by_shared);
            keep_best(best.mpi, by_mpi);
            keep_best(best.non_blocking, non_blocking);
            keep_best(best.blocking, blocking);
        }
        json result = {{"scheme", scheme.text()},
                       {"transport", shared.notes()},
                       {"operations", operations(g.world, shared, mpi, best)},
                       {"volume_differs", ""}};
        const Volume stated = strategy.stated_volume(problem, g.world.rank(), 4, 0).volume;
        for (const Side* side : {&shared, &mpi})
            for (const std::string& text : g.world.all_gather(difference(stated, side->volume())))
                if (!text.empty()) result["volume_differs"] = text;
        return result;
    });
}

}  // namespace gnnbench::bench
