#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/lines.hpp"
#include "record/scaling_axis.hpp"
#include "record/verifications.hpp"

namespace gnnbench {

namespace sqlite {
class Connection;
}
class LineApplier;

/// CellRecord::code as the database keeps it: its JSON, or nothing where none is known.
std::string code_text(const nlohmann::json& code);

/// The state of trial `number` of a cell on one machine: its newest conclusive trial, else its newest.
struct TrialState {
    int number = 0;
    std::string trial;
    TrialStatus status = TrialStatus::running;
    std::string reason;
    std::string build;        ///< provenance's "build" (source digest), if it has one
    std::string code;         ///< see code_text; empty where an older gnnbench measured it
    int conclusive = 0;       ///< conclusive trials with this number, to be passed to claim()
    std::string rerun_asked;  ///< when a rerun was requested, if it has not finished
};

struct ApplyResult {
    std::int64_t lines = 0;
    std::vector<std::string> problems;  ///< one sentence per line that breaks the contract; those are left out
};

/// The results, open for reading and writing: WAL mode, foreign keys on, schema migrated.
class Database {
public:
    /// Creates the file if there is none. Throws EnvironmentError if it cannot be written.
    explicit Database(const std::filesystem::path& path);
    /// For commands that only read: brought up to date where it can be written; as it lies where it cannot (another
    /// person's, a read-only disk). Only the const members serve then.
    static Database for_reading(const std::filesystem::path& path);
    Database(Database&&) noexcept;
    Database& operator=(Database&&) noexcept;
    ~Database();

    /// Journal lines in one transaction. Idempotent.
    ApplyResult apply(std::span<const nlohmann::json> lines);

    /// Stores the experiment's file and its current cells, in order; former cells leave the experiment, not the
    /// database.
    void register_experiment(const std::string& name, const std::string& spec, std::span<const CellRecord> cells,
                             const ScalingAxis& scaling = {});

    /// The cells among these that are known have to be verified under the keys given here.
    void note_verification_keys(std::span<const CellRecord> cells);

    /// States of the `measure` trials of a cell on a machine, by number.
    std::vector<TrialState> trials_of(const std::string& cell_digest,
                                      const std::string& machine_fingerprint) const;
    /// The same for every cell, by digest.
    std::map<std::string, std::vector<TrialState>> all_trials(const std::string& machine_fingerprint) const;
    /// Whether a trial of the cell on the machine was ever skipped for this reason.
    bool was_skipped(const std::string& cell_digest, const std::string& machine_fingerprint,
                     const std::string& reason) const;
    /// These trials (by UUID) are to be measured again. That is remembered until trials of their numbers are
    /// conclusive again, even if this process is killed.
    void request_rerun(std::span<const std::string> trials);
    /// Withdraws the unfinished rerun requests for a cell on a machine. Returns how many trials they were for.
    std::int64_t forget_reruns(const std::string& cell_digest, const std::string& machine_fingerprint);

    /// The newest verification under the key; if the last attempt left none (it crashed), `unverified` with the reason.
    std::optional<VerificationRecord> verification(const std::string& key) const;
    /// Whether no measured trial under the key has had a step after its last verified, and found right.
    bool late_step_due(const std::string& key) const;

    /// For record's own functions (claims, replay, comparison).
    sqlite::Connection& connection() const { return *connection_; }
    LineApplier& applier() { return *applier_; }
    const std::filesystem::path& path() const { return path_; }

private:
    struct Unmigrated {};
    Database(const std::filesystem::path& path, Unmigrated);
    std::filesystem::path path_;
    std::unique_ptr<sqlite::Connection> connection_;
    std::unique_ptr<LineApplier> applier_;
};

/// Removes trials (by UUID) and everything that refers to them. Returns how many there were.
std::int64_t remove_trials(Database& database, std::span<const std::string> trials);

}  // namespace gnnbench
