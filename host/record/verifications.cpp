#include "record/verifications.hpp"

#include <set>

#include <fmt/format.h>

#include "record/experiments.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {

VerificationFinder::VerificationFinder(const sqlite::Connection& connection)
    : find_(connection.prepare(
          "SELECT t.uuid, t.status, t.reason, v.status, v.reason, v.detail, v.loss_error, v.gradient_error, "
          "v.volume_equal, v.sampled_vertices, v.checks FROM cell c JOIN trial t ON t.cell_id = c.id AND t.purpose = "
          "'verify' "
          "LEFT JOIN verification v ON v.trial_id = t.id WHERE c.verification_key = ? AND t.status <> 'running' "
          "ORDER BY (v.status IS NULL), t.started DESC, t.id DESC LIMIT 1",
          "look for a verification")) {}

std::optional<VerificationRecord> VerificationFinder::find(const std::string& key) {
    sqlite::Statement& q = find_;
    q.bind(key);
    if (!q.step()) return std::nullopt;
    VerificationRecord r{.trial = q.text(0),
                         .status = q.text(3),
                         .reason = q.text(4),
                         .detail = q.text(5),
                         .loss_error = q.maybe_real(6),
                         .gradient_error = q.maybe_real(7),
                         .volume_equal = {},
                         .sampled_vertices = q.integer(9)};
    if (!q.is_null(10)) r.checks = q.text(10);
    if (!q.is_null(8)) r.volume_equal = q.integer(8) != 0;
    if (r.status.empty()) {
        r.status = "unverified";
        r.reason =
            fmt::format("its verification ended as {}{}{}", q.text(1), q.text(2).empty() ? "" : ": ", q.text(2));
    }
    q.reset();
    return r;
}

std::vector<VerificationRow> read_verifications(const std::filesystem::path& database,
                                                const std::string& experiment) {
    const sqlite::Connection connection(database, sqlite::Access::read_only);
    auto q = connection.prepare(
        "SELECT c.verification_key, c.dataset, c.scheme_label, c.partitioner_label, c.kernel, c.precision, c.gpus "
        "FROM experiment_cell x JOIN cell c ON c.id = x.cell_id WHERE x.experiment_id = ? ORDER BY x.position",
        "read an experiment's cells");
    q.bind(experiment_id(connection, experiment));
    std::vector<VerificationRow> rows;
    std::set<std::string> seen;
    VerificationFinder verifications(connection);
    while (q.step()) {
        if (!seen.insert(q.text(0)).second) continue;
        VerificationRow row{q.text(1), q.text(2), q.text(3), q.text(4), q.text(5), static_cast<int>(q.integer(6)),
                            {}};
        if (const auto found = verifications.find(q.text(0)))
            row.found = *found;
        else {
            row.found.status = "unverified";
            row.found.reason = "not tried yet";
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace gnnbench
