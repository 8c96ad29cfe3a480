#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "worker/export.hpp"
#include "worker/measurement.hpp"

namespace gnnbench {

using nlohmann::json;

bool Measurement::traces(std::int64_t epoch) const { return std::ranges::count(request.trace_epochs, epoch) > 0; }

bool Measurement::evaluates_after(std::int64_t epoch) const {
    if (!backend.holds_values()) return false;
    const std::int64_t every = request.cell.evaluate_every;
    return epoch + 1 == epochs() || (every > 0 && (epoch + 1) % every == 0);
}

void finish_given_work(const ProcessGroup& group, Backend& backend) {
    backend.synchronize(StreamRole::compute);
    backend.synchronize(StreamRole::communication);
    group.barrier();
}

Step timed_epoch(const ProcessGroup& group, Backend& backend, CollectiveTrainer& trainer, std::int64_t epoch) {
    finish_given_work(group, backend);
    backend.reset_peak_memory();
    backend.trace().begin_epoch();
    const Step step = trainer.train_epoch(epoch);
    backend.synchronize(StreamRole::compute);
    backend.trace().end_epoch();
    return step;
}

namespace {

/// The trace holds the epoch's spans until the next begins. Collective.
void write_spans(const Measurement& m, std::int64_t epoch) {
    json ranks = m.record.gather(to_json(m.backend.trace().spans()));
    m.record.write("spans", {{"epoch", epoch}, {"ranks", std::move(ranks)}});
}

/// Over all ranks; null where no row is old. Collective.
json ages_of(const CollectiveTrainer& trainer, const ProcessGroup& group) {
    const std::vector<RowAges> mine = trainer.row_ages();
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

}  // namespace

TrialEnd measure_epochs(const Measurement& m, CollectiveTrainer& trainer) {
    Patience patience(m.request.cell.patience);
    std::int64_t e = 0;
    for (; e < m.epochs(); ++e) {
        const Step step = over_ranks(timed_epoch(m.group, m.backend, trainer, e), m.group);
        const Volume counted = m.counter.take();
        json line = {{"epoch", e},
                     {"warmup", m.warms_up(e)},
                     {"loss", m.backend.holds_values() ? finite_or_null(step.loss) : json(nullptr)},
                     {"steps", trainer.steps(e)},
                     {"samples", step.samples}};
        if (m.as_stated) line["as_stated"] = m.group.maximum({m.as_stated(e, counted) ? 0.0 : 1.0})[0] == 0;
        if (json ages = ages_of(trainer, m.group); !ages.is_null()) line["row_ages"] = std::move(ages);
        line["ranks"] =
            m.record.gather(epoch_json(m.backend.trace().times(), counted, m.backend.memory().peak_bytes));
        m.record.write("epoch", std::move(line));
        if (m.traces(e)) write_spans(m, e);
        // Ranks that read different losses still stop together.
        if (m.group.maximum({std::isfinite(step.loss) ? 0.0 : 1.0})[0] > 0)
            return {TrialStatus::diverged, fmt::format("the loss of epoch {} is not finite", e)};
        if (m.evaluates_after(e) && patience.over_after(evaluate(m, trainer, e))) break;
        if (e + 1 == m.epochs()) break;
    }
    if (m.traces(last_epoch) && !m.traces(e)) write_spans(m, e);
    if (!m.request.export_folder.empty() && m.backend.holds_values())
        export_results(m.request.export_folder, trainer, m.vertices, m.group);
    TrialEnd end;
    end.epochs = e + 1;
    return end;
}

}  // namespace gnnbench
