#include "record/verifications.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "record/choice.hpp"
#include "record/experiments.hpp"
#include "record/migrations.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {

namespace {

/// How the reason of an approximate scheme's verification begins, as its ranks write it.
constexpr std::string_view approximate_scheme = "approximate: ";

}  // namespace

bool is_settled(const VerificationRecord& found, const std::string& approximation) {
    if (found.status == VerificationStatus::verified) return true;
    return found.status == VerificationStatus::unverified &&
           ((!approximation.empty() && found.reason.starts_with(approximate_scheme)) ||
            found.reason.starts_with(ill_conditioned_here));
}

VerificationFinder::VerificationFinder(const sqlite::Connection& connection)
    : find_(connection.prepare(
          "SELECT t.uuid, t.status, t.reason, v.status, v.reason, v.detail, v.loss_error, v.gradient_error, "
          "v.volume_equal, v.sampled_vertices, v.checks FROM trial t LEFT JOIN verification v ON v.trial_id = "
          "t.id "
          "WHERE t.verification_key = ? AND t.purpose = 'verify' AND t.status <> 'running' "
          "ORDER BY (v.status IS NULL), t.id IN (SELECT trial_id FROM imported_trial), t.id DESC LIMIT 1",
          "look for a verification")),
      find_late_(connection.prepare("SELECT t.uuid, v.status, v.reason, v.detail, v.loss_error, v.gradient_error, "
                                    "v.checks FROM verification v "
                                    "JOIN trial t ON t.id = v.trial_id WHERE v.key = ? AND t.purpose = 'measure' "
                                    "AND v.status <> 'unverified' "  // it found nothing in time
                                    "ORDER BY v.trial_id DESC LIMIT 1",
                                    "look for a verified step")) {}

std::optional<VerificationRecord> VerificationFinder::late_step(const std::string& key) {
    sqlite::Statement& q = find_late_;
    q.bind(key);
    std::optional<VerificationRecord> r;
    if (q.step())
        r = VerificationRecord{.trial = q.text(0),
                               .reason = q.text(2),
                               .detail = q.text(3),
                               .status = verification_status(q.text(1)),
                               .loss_error = q.maybe_real(4),
                               .gradient_error = q.maybe_real(5),
                               .volume_equal = {},
                               .checks = q.text(6)};
    q.reset();
    return r;
}

std::optional<VerificationRecord> VerificationFinder::find(const std::string& key) {
    sqlite::Statement& q = find_;
    q.bind(key);
    if (!q.step()) return std::nullopt;
    VerificationRecord r{.trial = q.text(0),
                         .reason = q.text(4),
                         .detail = q.text(5),
                         .status = VerificationStatus::unverified,
                         .loss_error = q.maybe_real(6),
                         .gradient_error = q.maybe_real(7),
                         .volume_equal = {},
                         .sampled_vertices = q.integer(9)};
    if (!q.is_null(10)) r.checks = q.text(10);
    if (!q.is_null(8)) r.volume_equal = q.integer(8) != 0;
    if (!q.is_null(3))
        r.status = verification_status(q.text(3));
    else
        r.reason =
            fmt::format("its verification ended as {}{}{}", q.text(1), q.text(2).empty() ? "" : ": ", q.text(2));
    q.reset();
    if (r.status == VerificationStatus::failed) return r;
    const std::optional<VerificationRecord> late = late_step(key);
    return late && late->status == VerificationStatus::failed ? *late : r;
}

VerificationRecord VerificationFinder::of_trials(const std::string& key,
                                                 std::span<const std::string> measured_under) {
    VerificationRecord unverified;
    const std::optional<VerificationRecord> now = find(key);
    const auto is_checked = [&](const std::string& k) {
        const auto found = k == key ? now : find(k);
        return found && found->status == VerificationStatus::verified;
    };
    if (!now) {
        const bool before = std::ranges::any_of(measured_under, is_checked);
        unverified.reason =
            before ? "verified as built when it was measured, not since its code was built anew" : "not tried yet";
        return unverified;
    }
    const auto unchecked =
        std::ranges::count_if(measured_under, [&](const std::string& k) { return k != key && !is_checked(k); });
    if (now->status != VerificationStatus::verified || unchecked == 0) return *now;
    unverified.reason =
        fmt::format("{} of {} trials were measured by another build than the one that was verified", unchecked,
                    measured_under.size());
    return unverified;
}

bool partitioner_was_asked(const sqlite::Connection& connection, const std::string& digest) {
    auto q = connection.prepare(
        "SELECT 1 FROM verification v JOIN trial t ON t.id = v.trial_id "
        "WHERE t.code <> '' AND json_extract(t.code, '$.partitioner') = ? "
        "AND json_extract(v.checks, '$.checks.partitioner') IS NOT NULL LIMIT 1",
        "look whether a partitioner was asked twice");
    q.bind(digest);
    return !digest.empty() && q.step();
}

namespace {

/// Why a combination cannot run, where that is the last that was heard of it.
std::optional<std::string> why_skipped(const sqlite::Connection& c, const std::string& key) {
    auto q = c.prepare(
        "SELECT t.status, t.reason FROM cell c JOIN trial t ON t.cell_id = c.id AND t.purpose = 'measure' "
        "WHERE c.verification_key = ? ORDER BY t.id IN (SELECT trial_id FROM imported_trial), t.id DESC LIMIT 1",
        "look whether a cell was skipped");
    q.bind(key);
    return q.step() && trial_status(q.text(0)) == TrialStatus::skipped ? std::optional(q.text(1)) : std::nullopt;
}

}  // namespace

std::vector<VerificationRow> read_verifications(const std::filesystem::path& database,
                                                const std::string& experiment, const std::string& where) {
    const sqlite::Connection connection = open_to_read(database);
    const std::set<std::int64_t> chosen = cells_of(connection, experiment, where);
    auto q = connection.prepare(
        "SELECT c.verification_key, c.dataset, c.scheme_label, c.partitioner_label, c.kernel, c.precision, "
        "c.gpus, c.id "
        "FROM experiment_cell x JOIN cell c ON c.id = x.cell_id WHERE x.experiment_id = ? ORDER BY x.position",
        "read an experiment's cells");
    q.bind(experiment_id(connection, experiment));
    std::vector<VerificationRow> rows;
    std::set<std::string> seen;
    VerificationFinder verifications(connection);
    while (q.step()) {
        if (!chosen.contains(q.integer(7)) || !seen.insert(q.text(0)).second) continue;
        VerificationRow row{q.text(1), q.text(2), q.text(3), q.text(4), q.text(5), static_cast<int>(q.integer(6)),
                            {}};
        row.found = verifications.of_trials(q.text(0), {});
        if (row.found.trial.empty())
            if (const auto reason = why_skipped(connection, q.text(0))) {
                row.found.status = VerificationStatus::skipped;
                row.found.reason = *reason;
            }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace gnnbench
