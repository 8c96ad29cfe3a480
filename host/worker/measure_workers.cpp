#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "worker/export.hpp"
#include "worker/measurement.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;
/// Seconds of the ranks' clock.
double now_s(const ProcessGroup& group) {
    if (const Turns* turns = group.turns()) return turns->now_s();
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// This worker's weights as it left epochs that are evaluated. An epoch that it never entered finds the one before.
class Snapshots {
public:
    explicit Snapshots(ModelWeights initial) : initial_(std::move(initial)) {}
    void keep(std::int64_t epoch, ModelWeights weights) { after_[epoch] = std::move(weights); }
    const ModelWeights& at(std::int64_t epoch) const {
        const auto later = after_.upper_bound(epoch);
        return later == after_.begin() ? initial_ : std::prev(later)->second;
    }

private:
    ModelWeights initial_;
    std::map<std::int64_t, ModelWeights> after_;
};

/// Writes a line each time this worker leaves an epoch.
class WorkerRecorder final : public StepObserver {
public:
    /// The clock starts with the first of all workers' steps, so after a barrier.
    WorkerRecorder(const Measurement& m, IndependentTrainer& trainer)
        : m_(m), trainer_(trainer), snapshots_(trainer.own_weights()), start_s_(now_s(m.group)) {}

    void begins(std::int64_t epoch) override {
        if (now_ && now_->epoch == epoch) return;
        leave();
        m_.backend.reset_peak_memory();
        m_.backend.trace().begin_epoch();
        now_.emplace().epoch = epoch;
    }
    void stepped(const Step& step) override {
        finite_ = finite_ && std::isfinite(step.loss);
        ++now_->steps;
        now_->samples += step.samples;
        now_->loss_sum += step.loss * static_cast<double>(step.samples);
    }
    void averaged(const Averaging& averaging) override { now_->averagings.push_back(averaging); }

    /// Leaves the last epoch.
    void end() { leave(); }
    bool finite() const { return finite_; }
    const Snapshots& snapshots() const { return snapshots_; }

private:
    struct Epoch {
        std::int64_t epoch = 0, steps = 0, samples = 0;
        double loss_sum = 0;
        std::vector<Averaging> averagings;
    };

    void leave() {
        if (!now_) return;
        m_.backend.synchronize(StreamRole::compute);
        m_.backend.trace().end_epoch();
        const double end_s = now_s(m_.group) - start_s_;
        const Volume counted = m_.counter.take();
        json line = epoch_json(m_.backend.trace().times(), counted, m_.backend.memory().peak_bytes);
        if (m_.as_stated) line["as_stated"] = m_.as_stated(now_->epoch, counted);
        json averagings = json::array();
        for (const Averaging& a : now_->averagings)
            averagings.push_back({{"partner", a.partner}, {"staleness", a.staleness}});
        line.update({{"epoch", now_->epoch},
                     {"rank", m_.group.rank()},
                     {"warmup", m_.warms_up(now_->epoch)},
                     {"loss", now_->samples > 0 && m_.backend.holds_values()
                                  ? finite_or_null(now_->loss_sum / static_cast<double>(now_->samples))
                                  : json(nullptr)},
                     {"steps", now_->steps},
                     {"samples", now_->samples},
                     {"end_s", end_s},
                     {"averagings", std::move(averagings)}});
        m_.record.write_own("worker", std::move(line));
        if (m_.traces(now_->epoch))
            m_.record.write_own("worker_spans", {{"epoch", now_->epoch},
                                                 {"rank", m_.group.rank()},
                                                 {"spans", to_json(m_.backend.trace().spans())}});
        if (m_.evaluates_after(now_->epoch)) snapshots_.keep(now_->epoch, trainer_.own_weights());
        now_.reset();
    }

    const Measurement& m_;
    IndependentTrainer& trainer_;
    Snapshots snapshots_;
    double start_s_;
    std::optional<Epoch> now_;
    bool finite_ = true;
};

}  // namespace

TrialEnd measure_workers(const Measurement& m, IndependentTrainer& trainer) {
    finish_given_work(m.group, m.backend);
    if (m.reads_energy()) {
        m.energy->begin();
        m.group.barrier();
    }
    WorkerRecorder recorder(m, trainer);
    trainer.train(m.epochs(), recorder);
    recorder.end();
    m.group.wait_for_all();
    if (m.reads_energy()) m.energy->end(m.epochs(), m.request.cell.warmup);
    m.record.collect_own();
    if (m.group.maximum({recorder.finite() ? 0.0 : 1.0})[0] > 0)
        return {TrialStatus::diverged, "the loss of a batch is not finite"};
    for (std::int64_t e = 0; e < m.epochs(); ++e) {
        if (!m.evaluates_after(e)) continue;
        const auto start = std::chrono::steady_clock::now();
        const Score score = trainer.evaluate(recorder.snapshots().at(e));
        m.record.write("evaluation", evaluation_json(e, score, start));
    }
    if (!m.request.export_folder.empty()) export_results(m.request.export_folder, trainer, m.vertices, m.group);
    return {};
}

}  // namespace gnnbench
