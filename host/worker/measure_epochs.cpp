#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "worker/export.hpp"
#include "worker/measurement.hpp"

namespace gnnbench {

using nlohmann::json;

bool Measurement::traces(std::int64_t epoch) const {
    return std::ranges::count(request.trace_epochs, epoch) > 0 || (traces_last() && epoch + 1 == epochs());
}

bool Measurement::traces_last() const { return std::ranges::count(request.trace_epochs, last_epoch) > 0; }

bool Measurement::evaluates_after(std::int64_t epoch) const {
    if (!backend.holds_values()) return false;
    const std::int64_t every = request.cell.evaluate_every;
    return epoch + 1 == epochs() || (every > 0 && (epoch + 1) % every == 0);
}

void finish_given_work(const ProcessGroup& group, Backend& backend) {
    backend.synchronize(StreamRole::compute);
    backend.synchronize(StreamRole::communication);
    backend.synchronize(StreamRole::background);
    group.barrier();
}

void timed_epochs(const ProcessGroup& group, Backend& backend, CollectiveTrainer& trainer, std::int64_t first,
                  std::int64_t count, const std::function<void(std::int64_t, const Step&)>& ended) {
    finish_given_work(group, backend);
    backend.trace().begin_epoch();
    for (std::int64_t e = first; e < first + count; ++e) {
        if (e > first) backend.trace().next_epoch();
        backend.reset_peak_memory();
        const bool last = e + 1 == first + count;
        const Step step = last ? trainer.train_epoch(e) : trainer.train_epoch_running_on(e);
        backend.synchronize(StreamRole::compute);
        if (last) backend.trace().end_epoch();
        ended(e, step);
    }
}

Step timed_epoch(const ProcessGroup& group, Backend& backend, CollectiveTrainer& trainer, std::int64_t epoch) {
    Step step;
    timed_epochs(group, backend, trainer, epoch, 1, [&](std::int64_t, const Step& s) { step = s; });
    return step;
}

namespace {

/// The trace holds the spans of epoch `index` of the last run. Collective.
void write_spans(const Measurement& m, std::int64_t epoch, std::size_t index) {
    json ranks = m.record.gather(to_json(m.backend.trace().spans_of(index)));
    m.record.write("spans", {{"epoch", epoch}, {"ranks", std::move(ranks)}});
}

/// Over all ranks; null where no row is old. Collective.
json ages_of(const std::vector<RowAges>& mine, const ProcessGroup& group) {
    if (mine.empty()) return nullptr;
    std::vector<double> sums, most;
    for (const RowAges& a : mine) {
        for (const std::int64_t n : {a.rows, a.absent, a.sum_epochs}) sums.push_back(static_cast<double>(n));
        most.push_back(static_cast<double>(a.most_epochs));
    }
    sums = group.sum(sums);
    most = group.maximum(most);
    json list;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        const double rows = sums[3 * i], absent = sums[3 * i + 1], present = rows - absent;
        list.push_back({{"layer", mine[i].layer},
                        {"kind", to_text(mine[i].kind)},
                        {"rows", static_cast<std::int64_t>(rows)},
                        {"absent", static_cast<std::int64_t>(absent)},
                        {"mean_epochs", present > 0 ? json(sums[3 * i + 2] / present) : json(nullptr)},
                        {"most_epochs", static_cast<std::int64_t>(most[i])}});
    }
    return list;
}

/// How long validation has not improved.
class Patience {
public:
    explicit Patience(std::int64_t evaluations) : evaluations_(evaluations) {}
    /// Whether it is over.
    bool over_after(const Score& score) {
        const double validation = score.of[usize(Split::validation) - 1];
        stale_ = validation > best_ ? 0 : stale_ + 1;
        best_ = std::max(best_, validation);
        return evaluations_ > 0 && stale_ >= evaluations_;
    }

private:
    std::int64_t evaluations_, stale_ = 0;
    double best_ = -1;
};

Score evaluate(const Measurement& m, Trainer& trainer, std::int64_t epoch) {
    const auto start = std::chrono::steady_clock::now();
    const Score score = trainer.evaluate();
    m.counter.take();  // evaluation is counted apart from epochs
    m.record.write("evaluation", evaluation_json(epoch, score, start));
    return score;
}

/// What this rank knows of an epoch beside its times.
struct TrainedEpoch {
    Step step;
    Volume counted;
    std::vector<RowAges> ages;
    std::int64_t peak_bytes = 0;
    json energy = {};  ///< of all ranks; null: not known
};

/// Whether all ranks meet between an epoch and the next, whatever the trainer lets run on. A traced epoch is a run of its
/// own, so that its spans are of one clock; energy is read where warm-up ends.
bool pauses_after(const Measurement& m, std::int64_t epoch) {
    return epoch + 1 == m.epochs() || m.evaluates_after(epoch) || m.traces(epoch) || m.traces(epoch + 1) ||
           (m.reads_energy() && m.warms_up(epoch) && !m.warms_up(epoch + 1));
}

/// How many epochs from `first` on follow one another without a pause.
std::int64_t run_length(const Measurement& m, const CollectiveTrainer& trainer, std::int64_t first) {
    if (!trainer.runs_on()) return 1;
    std::int64_t last = first;
    while (last + 1 < first + longest_run && !pauses_after(m, last)) ++last;
    return last + 1 - first;
}

/// The trace has an epoch for each. Collective.
std::vector<TrainedEpoch> train_run(const Measurement& m, CollectiveTrainer& trainer, std::int64_t first) {
    std::vector<TrainedEpoch> run;
    const std::int64_t count = run_length(m, trainer, first);
    if (m.reads_energy()) {
        finish_given_work(m.group, m.backend);
        m.energy->begin();
    }
    timed_epochs(m.group, m.backend, trainer, first, count, [&](std::int64_t, const Step& step) {
        run.push_back({step, m.counter.take(), trainer.row_ages(), m.backend.memory().peak_bytes});
    });
    if (m.reads_energy()) {
        m.energy->end(count, std::clamp<std::int64_t>(m.request.cell.warmup - first, 0, count));
        run.back().energy = m.energy->epoch();
    }
    return run;
}

/// When the last rank ended each epoch of a run, in seconds since its beginning. Collective.
std::vector<double> ends_of(const Measurement& m, std::size_t epochs) {
    std::vector<double> ends_s;
    double end_s = 0;
    for (std::size_t i = 0; i < epochs; ++i) ends_s.push_back(end_s += m.backend.trace().times(i).wall_s);
    return m.group.maximum(ends_s);
}

/// Rank 0 writes the line of epoch e, which was number `index` of a run. Collective.
Step write_epoch(const Measurement& m, const CollectiveTrainer& trainer, const TrainedEpoch& trained,
                 std::int64_t e, std::size_t index, const std::vector<double>& ends_s) {
    const Step step = over_ranks(trained.step, m.group);
    json line = {{"epoch", e},
                 {"warmup", m.warms_up(e)},
                 {"wall_s", ends_s[index] - (index > 0 ? ends_s[index - 1] : 0)},
                 {"loss", m.backend.holds_values() ? finite_or_null(step.loss) : json(nullptr)},
                 {"steps", trainer.steps(e)},
                 {"samples", step.samples}};
    if (m.as_stated) line["as_stated"] = m.group.maximum({m.as_stated(e, trained.counted) ? 0.0 : 1.0})[0] == 0;
    if (json ages = ages_of(trained.ages, m.group); !ages.is_null()) line["row_ages"] = std::move(ages);
    if (!trained.energy.is_null()) line["energy"] = trained.energy;
    line["ranks"] =
        m.record.gather(epoch_json(m.backend.trace().times(index), trained.counted, trained.peak_bytes));
    m.record.write("epoch", std::move(line));
    if (m.traces(e)) write_spans(m, e, index);
    return step;
}

}  // namespace

TrialEnd measure_epochs(const Measurement& m, CollectiveTrainer& trainer) {
    Patience patience(m.request.cell.patience);
    TrialEnd end;
    for (bool over = false; !over;) {
        const std::vector<TrainedEpoch> run = train_run(m, trainer, end.epochs);
        const std::vector<double> ends_s = ends_of(m, run.size());
        for (std::size_t i = 0; i < run.size(); ++i) {
            const std::int64_t e = end.epochs++;
            const Step step = write_epoch(m, trainer, run[i], e, i, ends_s);
            // Ranks that read different losses still stop together.
            if (m.group.maximum({std::isfinite(step.loss) ? 0.0 : 1.0})[0] > 0)
                return {TrialStatus::diverged, fmt::format("the loss of epoch {} is not finite", e)};
        }
        const std::int64_t last = end.epochs - 1;
        over = end.epochs == m.epochs();
        if (m.evaluates_after(last)) over |= patience.over_after(evaluate(m, trainer, last));
        if (over && m.traces_last() && !m.traces(last)) write_spans(m, last, run.size() - 1);
    }
    if (!m.request.export_folder.empty() && m.backend.holds_values())
        export_results(m.request.export_folder, trainer, m.vertices, m.group);
    return end;
}

}  // namespace gnnbench
