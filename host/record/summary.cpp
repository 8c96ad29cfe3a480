#include <cmath>
#include <numeric>
#include <vector>

#include "record/apply.hpp"
#include "record/statistics.hpp"

namespace gnnbench {
namespace {

struct EpochSummary {
    std::vector<double> wall_s, exposed_comm_s, sent_bytes, messages;
};

/// One entry per measured epoch: the slowest rank's times, the payload of all ranks. If several ranks belong to a
/// program, nothing was counted.
EpochSummary read_epochs(const sqlite::Connection& c, std::int64_t trial) {
    EpochSummary s;
    auto q = c.prepare(
        "SELECT wall_s,"
        " (SELECT max(seconds) FROM rank_phase p WHERE p.trial_id = e.trial_id AND p.epoch = e.epoch AND phase = "
        "'comm'),"
        " coalesce((SELECT sum(sent_bytes) FROM rank_volume v WHERE v.trial_id = e.trial_id AND v.epoch = e.epoch"
        "   AND content = 'payload'), uncounted),"
        " coalesce((SELECT sum(messages) FROM rank_volume v WHERE v.trial_id = e.trial_id AND v.epoch = e.epoch"
        "   AND content = 'payload'), uncounted) "
        "FROM epoch e, (SELECT iif(c.gpus > 1 AND json_type(c.identity, '$.scheme.command') IS NOT NULL, NULL, 0)"
        "   AS uncounted FROM trial t JOIN cell c ON c.id = t.cell_id WHERE t.id = ?1)"
        " WHERE trial_id = ?1 AND NOT warmup",
        "summarise a trial");
    q.bind(trial);
    while (q.step()) {
        s.wall_s.push_back(q.real(0));
        if (!q.is_null(1)) s.exposed_comm_s.push_back(q.real(1));
        if (!q.is_null(2)) s.sent_bytes.push_back(q.real(2));
        if (!q.is_null(3)) s.messages.push_back(q.real(3));
    }
    return s;
}

std::optional<double> median_if_any(const std::vector<double>& v) {
    return v.empty() ? std::nullopt : std::optional(median(v));
}
std::optional<double> mean_if_any(const std::vector<double>& v) {
    return v.empty() ? std::nullopt
                     : std::optional(std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()));
}
/// Of a scheme that sends in every fifth epoch, the median would say that it sends nothing.
std::optional<std::int64_t> whole_mean_if_any(const std::vector<double>& v) {
    const auto mean = mean_if_any(v);
    return mean ? std::optional<std::int64_t>(std::llround(*mean)) : std::nullopt;
}

}  // namespace

void summarise_trial(sqlite::Connection& c, std::int64_t trial) {
    const EpochSummary s = read_epochs(c, trial);
    // Where ranks do not end an epoch together, epochs overlap: several may end with the one batch that a slow worker
    // holds, or with one averaging, and only their sum says something. One then differs from its slowest rank's time.
    auto overlap = c.prepare(
        "SELECT EXISTS (SELECT 1 FROM worker_epoch WHERE trial_id = ?1) OR EXISTS (SELECT 1 FROM epoch e WHERE "
        "trial_id = ?1 AND abs(wall_s - (SELECT max(wall_s) FROM rank_epoch r WHERE r.trial_id = e.trial_id AND "
        "r.epoch = e.epoch)) > 1e-9 * wall_s)",
        "summarise a trial");
    overlap.bind(trial);
    const bool overlapping = overlap.step() && overlap.integer(0) != 0;
    c.prepare(
         "UPDATE trial SET measured_epochs = ?, epoch_s = ?, exposed_comm_s = ?, sent_bytes_per_epoch = ?, "
         "messages_per_epoch = ? WHERE id = ?",
         "store a trial's summary")
        .run(s.wall_s.size(), overlapping ? mean_if_any(s.wall_s) : median_if_any(s.wall_s),
             overlapping ? mean_if_any(s.exposed_comm_s) : median_if_any(s.exposed_comm_s),
             whole_mean_if_any(s.sent_bytes), whole_mean_if_any(s.messages), trial);

    c.prepare(
         "UPDATE trial SET "
         "final_loss = (SELECT loss FROM epoch WHERE trial_id = ?1 ORDER BY epoch DESC LIMIT 1), "
         // Measured epochs only: in warm-up, kernels tune and allocate memory for tuning.
         "peak_memory_bytes = (SELECT max(r.peak_memory_bytes) FROM rank_epoch r JOIN epoch e USING (trial_id, "
         "  epoch) WHERE r.trial_id = ?1 AND NOT e.warmup), "
         "(score_metric, train_accuracy, validation_accuracy, test_accuracy) = (SELECT metric, train, validation, "
         "  test FROM evaluation WHERE trial_id = ?1 ORDER BY epoch DESC LIMIT 1) WHERE id = ?1",
         "store a trial's summary")
        .run(trial);

    // Counted against stated, both ways round: every stated row in every measured epoch, and no row beyond.
    c.prepare(
         "UPDATE trial SET volume_as_stated = CASE"
         " WHEN EXISTS (SELECT 1 FROM epoch WHERE trial_id = ?1 AND as_stated IS NOT NULL)"
         "  THEN (SELECT min(as_stated) FROM epoch WHERE trial_id = ?1 AND NOT warmup)"
         " WHEN NOT EXISTS (SELECT 1 FROM stated_volume WHERE trial_id = ?1)"
         " OR measured_epochs = 0 THEN NULL ELSE NOT EXISTS ("
         "  SELECT 1 FROM epoch e JOIN stated_volume s ON s.trial_id = e.trial_id"
         "  LEFT JOIN rank_volume v ON v.trial_id = e.trial_id AND v.epoch = e.epoch AND v.rank = s.rank"
         "   AND v.operation = s.operation AND v.content = s.content"
         "  WHERE e.trial_id = ?1 AND NOT e.warmup AND (s.sent_bytes <> coalesce(v.sent_bytes, 0)"
         "   OR s.received_bytes <> coalesce(v.received_bytes, 0) OR s.messages <> coalesce(v.messages, 0))"
         " UNION ALL"
         "  SELECT 1 FROM epoch e JOIN rank_volume v ON v.trial_id = e.trial_id AND v.epoch = e.epoch"
         "  LEFT JOIN stated_volume s ON s.trial_id = v.trial_id AND s.rank = v.rank"
         "   AND s.operation = v.operation AND s.content = v.content"
         "  WHERE e.trial_id = ?1 AND NOT e.warmup AND s.trial_id IS NULL"
         "   AND (v.sent_bytes <> 0 OR v.received_bytes <> 0 OR v.messages <> 0)) END WHERE id = ?1",
         "compare a trial's stated and counted volume")
        .run(trial);
}

}  // namespace gnnbench
