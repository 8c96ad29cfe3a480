#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/prepare.hpp"
#include "launch/machine.hpp"
#include "launch/trial.hpp"
#include "record/claims.hpp"
#include "record/database.hpp"
#include "record/journal.hpp"
#include "worker/request.hpp"

namespace gnnbench {

/// One trial to run.
struct TrialOrder {
    const PreparedCell& cell;
    Purpose purpose = Purpose::measure;
    std::int64_t number = 0;  ///< in its cell; also its randomised block
    int seen_conclusive = 0;  ///< see claim_trial; of verifications whatever there is counts as seen
    double timeout_s = 3600;
    std::string export_folder{};  ///< empty: nothing is exported
    VerifyRequest verify{};
    std::vector<std::int64_t> trace_epochs{};  ///< see TrialRequest
};

/// How far a running trial is, from its journal lines.
struct TrialProgress {
    std::int64_t epochs = 0;  ///< finished, warm-up included
    double epoch_s = 0;       ///< wall time of the last one, the slowest rank's
};

struct TrialResult {
    ClaimState claim = ClaimState::claimed;
    std::string holder;          ///< where another process runs it
    std::string trial;           ///< UUID
    std::string status, reason;  ///< as its outcome line says
    std::string log_tail;
    double wall_s = 0;
    double epoch_s = 0;  ///< median of the measured epochs' wall times; 0 without one
};

/// Runs trials one after another for one experiment, each from its claim to its outcome in the database. Owns this
/// process's journal; what is in it is in the database by the time run() returns.
class TrialRunner {
public:
    using Watch = std::function<void(const TrialProgress&)>;

    /// Throws EnvironmentError without mpiexec, the worker, or a place to write.
    /// `jobs`: how many runners of this process run trials at the same time; they share its cores.
    TrialRunner(Database& database, std::string experiment, int jobs = 1);

    TrialResult run(const TrialOrder& order, const Watch& watch);
    /// Records a trial that is not started, with the reason.
    TrialResult record_unrun(const TrialOrder& order, const std::string& status, const std::string& reason);
    /// To be called when nothing more is run: the journal goes, its lines being in the database.
    void finish();

    const std::string& machine_fingerprint() const { return fingerprint_; }

private:
    void begin(const TrialOrder& order, const std::string& trial);
    void end(const TrialOutcome& outcome);
    /// New journal lines into the database; what they tell of `trial` into `follow_`.
    void apply_new_lines();
    TrialOutcome outcome_of(const std::string& trial, const LaunchEnd& end) const;

    /// What the lines of the trial under way have told so far.
    struct Followed {
        std::string trial;
        TrialProgress progress;
        std::vector<double> measured_epoch_s;
        std::string end_status, end_reason;
    };

    Database& database_;
    std::string experiment_;
    Mpiexec mpiexec_;
    std::string worker_;
    nlohmann::json machine_;
    std::string fingerprint_;
    int cores_, jobs_;
    Journal journal_;
    JournalTail tail_;
    Followed follow_;
};

/// The folder for what a trial needs while it runs: its request and its log. Beside the journals.
std::filesystem::path trial_folder(const std::filesystem::path& database, const std::string& trial);
/// Where the serial reference's results are kept for verifications to come: `<database>.reference`.
std::filesystem::path reference_cache(const std::filesystem::path& database);

}  // namespace gnnbench
