#include "record/trial_history.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/sqlite.hpp"

namespace gnnbench {

std::string TrialHistory::similarity_key(const std::string& dataset_digest, const std::string& scheme,
                                         const std::string& kernel, std::int64_t gpus, const std::string& hidden) {
    return fmt::format("{}\n{}\n{}\n{}\n{}", dataset_digest, scheme, kernel, gpus, hidden);
}

TrialHistory::TrialHistory(const Database& database, const std::string& machine) {
    auto q = database.connection().prepare(
        "SELECT c.digest, c.dataset_digest, c.scheme, c.kernel, c.gpus, c.hidden, avg(t.wall_s), avg(t.epoch_s), "
        "avg(t.wall_s - t.epoch_s * (c.epochs + c.warmup)), max(t.peak_memory_bytes) FROM trial t "
        "JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = t.machine_id WHERE m.fingerprint = ? "
        "AND t.purpose = 'measure' AND t.status = 'ok' AND t.epoch_s IS NOT NULL GROUP BY c.id",
        "read what trials took");
    q.bind(machine);
    while (q.step()) {
        const Sum one{q.real(6), q.real(7), std::max(0.0, q.real(8)), q.integer(9), 1};
        by_digest_[q.text(0)] = one;
        Sum& all = by_likeness_[similarity_key(q.text(1), q.text(2), q.text(3), q.integer(4), q.text(5))];
        all.trial_s += one.trial_s;
        all.epoch_s += one.epoch_s;
        all.beside_epochs_s += one.beside_epochs_s;
        all.peak_memory_bytes = std::max(all.peak_memory_bytes, one.peak_memory_bytes);
        ++all.cells;
    }
}

std::optional<TrialHistory::Estimate> TrialHistory::of(const Setting& c) const {
    if (const auto found = by_digest_.find(c.cell_digest); found != by_digest_.end())
        return Estimate{found->second.trial_s, found->second.peak_memory_bytes, true};
    const auto found = by_likeness_.find(
        similarity_key(c.dataset_digest, c.scheme, c.kernel, c.gpus, fmt::format("{}", fmt::join(c.hidden, ","))));
    if (found == by_likeness_.end()) return {};
    const Sum& sum = found->second;
    const auto cells = static_cast<double>(sum.cells);
    return Estimate{(sum.beside_epochs_s + sum.epoch_s * static_cast<double>(c.epochs)) / cells,
                    sum.peak_memory_bytes, false};
}

}  // namespace gnnbench
