#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {

struct VerificationRecord {
    std::string trial, reason, detail;
    VerificationStatus status = VerificationStatus::unverified;
    std::optional<double> loss_error, gradient_error;
    std::optional<bool> volume_equal;
    std::int64_t sampled_vertices = 0;  ///< 0: the whole graph
    std::string checks = "{}";          ///< JSON: what was looked at, schemas/worker-record.schema.json
};

/// Whether trying again would find no more: it is verified, or unverified because the scheme approximates or the
/// training is ill-conditioned. Neither counts as a failure, and such a cell is measured.
bool is_settled(const VerificationRecord& found, const std::string& approximation);

/// Looks up the newest verification under a key; if the last attempt left none (it crashed), `unverified` and why. What
/// failed in a step after a measured trial's last (see worker/verify/late_step.hpp) has failed, until such a step is right.
class VerificationFinder {
public:
    explicit VerificationFinder(const sqlite::Connection& connection);
    std::optional<VerificationRecord> find(const std::string& key);

    /// How far numbers are verified that were measured under `measured_under` (a key for each trial) of a cell whose
    /// key is `key` now: as the verification under `key` says, unless it or one of those that measured was never
    /// verified.
    VerificationRecord of_trials(const std::string& key, std::span<const std::string> measured_under);

    /// The newest step that was verified after a measured trial.
    std::optional<VerificationRecord> late_step(const std::string& key);

private:
    sqlite::Statement find_, find_late_;
};

/// Whether a verification has asked a partitioner, built as this digest says, twice for the same.
bool partitioner_was_asked(const sqlite::Connection& connection, const std::string& digest);

/// One combination of an experiment and what its verification found; status `unverified` where none was tried,
/// `skipped` where it cannot run.
struct VerificationRow {
    std::string dataset, scheme, partitioner, kernel, precision;
    int gpus = 1;
    VerificationRecord found;
};
/// The combinations of an experiment's cells, each once, in its order; `where`: an expression over cells' fields.
std::vector<VerificationRow> read_verifications(const std::filesystem::path& database,
                                                const std::string& experiment, const std::string& where = "");

}  // namespace gnnbench
