#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <gnnbench/communicator.hpp>

#include "../../contract/full_batch.hpp"
#include "measure.hpp"
#include "replay.hpp"

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

CallTimes by_operation(const std::vector<Call>& calls, const std::vector<double>& seconds) {
    CallTimes times;
    for (std::size_t i = 0; i < calls.size(); ++i) times[calls[i].operation].push_back(seconds[i]);
    return times;
}

double waits(const Trace& trace) { return trace.times().phase_s[static_cast<std::size_t>(Phase::wait)]; }

/// Epochs of one trainer, each followed by its calls made by plain MPI.
class Rounds {
public:
    Rounds(CollectiveTrainer& trainer, Backend& backend, VolumeCounter& counter, Recording& recording,
           const ProcessGroup& world)
        : trainer_(trainer), backend_(backend), counter_(counter), world_(world) {
        counter_.take();  // set-up's
        epoch();
        counter_.take();
        recording.on = true;
        epoch();
        recording.on = false;
        volume_ = counter_.take();
        const CallTimes spans = of_spans(backend_.trace());
        for (const auto& [op, seconds] :
             by_operation(recording.calls, std::vector<double>(recording.calls.size())))
            if (!spans.contains(op) || spans.at(op).size() != seconds.size())
                throw LogicError(fmt::format("{} calls of {} were recorded, and the trace shows {}",
                                             seconds.size(), comm_op_names[static_cast<std::size_t>(op)],
                                             spans.contains(op) ? spans.at(op).size() : 0));
        calls_ = &recording.calls;
    }

    void run(int rounds) {
        Replay replay(*calls_, backend_);
        for (int round = -1; round < rounds; ++round) {
            epoch();
            const CallTimes ours = of_spans(backend_.trace());
            const double wall = backend_.trace().times().wall_s, wait = waits(backend_.trace());
            const CallTimes non_blocking = by_operation(*calls_, replay.run(Manner::non_blocking));
            const CallTimes blocking = by_operation(*calls_, replay.run(Manner::blocking));
            if (round < 0) continue;  // pages are touched, paths are known
            keep_best(ours_, ours);
            keep_best(non_blocking_, non_blocking);
            keep_best(blocking_, blocking);
            wall_s_ = std::min(wall_s_, wall);
            wait_s_ = std::min(wait_s_, wait);
        }
        counter_.take();
    }

    const Volume& volume() const { return volume_; }

    json result() const {
        json operations = json::array();
        for (std::size_t i = 0; i < comm_op_names.size(); ++i) {
            const auto op = static_cast<CommOp>(i);
            double calls = 0, sent = 0;
            for (const auto& [key, t] : volume_)
                if (key.operation == op) sent += static_cast<double>(t.sent_bytes);
            for (const Call& c : *calls_) calls += c.operation == op;
            const auto mean =
                mean_over_ranks(world_, {calls, sent, sum(ours_, op), sum(non_blocking_, op), sum(blocking_, op)});
            if (mean[0] == 0) continue;
            operations.push_back({{"operation", comm_op_names[i]},
                                  {"calls", mean[0]},
                                  {"sent_bytes", mean[1]},
                                  {"ours_s", mean[2]},
                                  {"non_blocking_s", mean[3]},
                                  {"blocking_s", mean[4]},
                                  {"plain_s", std::min(mean[3], mean[4])}});
        }
        const auto mean = mean_over_ranks(world_, {wall_s_, wait_s_});
        return {{"epoch_s", mean[0]}, {"wait_s", mean[1]}, {"operations", operations}};
    }

private:
    void epoch() {
        world_.barrier();
        backend_.trace().begin_epoch();
        trainer_.train_epoch(epoch_++);
        backend_.synchronize(StreamRole::compute);
        backend_.trace().end_epoch();
    }

    CollectiveTrainer& trainer_;
    Backend& backend_;
    VolumeCounter& counter_;
    const ProcessGroup& world_;
    const std::vector<Call>* calls_ = nullptr;
    std::int64_t epoch_ = 0;
    Volume volume_;
    CallTimes ours_, non_blocking_, blocking_;
    double wall_s_ = std::numeric_limits<double>::infinity(), wait_s_ = wall_s_;
};

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

std::vector<double> mean_over_ranks(const ProcessGroup& world, std::vector<double> values) {
    values = world.sum(std::move(values));
    for (double& v : values) v /= world.size();
    return values;
}

json measure_scheme(const Ground& g, const Scheme& scheme) {
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

    const Params none(g.catalog.find(PluginKind::partitioner, "random").params);
    const Partition partition = g.catalog.partitioner("random")->partition(
        {.dataset = g.data, .model = model, .need = strategy->partition_need(setting), .params = none, .seed = 1});
    const IndexMap index(partition);
    const auto backend = g.catalog.kernel("cpu")->create(
        {.threads = 1, .params = Params(g.catalog.find(PluginKind::kernel, "cpu").params)});
    VolumeCounter counter;
    Recording recording;
    Communicator world(
        make_recording_transport(backend->connect(g.world), *static_cast<MPI_Comm*>(g.world.native()), recording),
        *backend, counter);
    world.separate_wait(true);
    const Problem problem{g.data, index, model, train, params, nullptr, g.world.size()};
    const auto trainer = strategy->make_collective_trainer(problem, {*backend, world, g.world});
    Rounds rounds(*trainer, *backend, counter, recording, g.world);
    rounds.run(g.rounds);
    json result = rounds.result();
    result["scheme"] = scheme.text();
    result["volume_differs"] = "";
    const Volume stated = strategy->stated_volume(problem, g.world.rank(), 4, 0).volume;
    for (const std::string& text : g.world.all_gather(difference(stated, rounds.volume())))
        if (!text.empty()) result["volume_differs"] = text;
    return result;
}

}  // namespace gnnbench::bench
