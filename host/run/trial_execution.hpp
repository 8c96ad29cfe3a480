#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launch/core_pool.hpp"
#include "launch/launcher.hpp"
#include "record/claims.hpp"
#include "record/journal.hpp"
#include "run/prepare.hpp"
#include "worker/request.hpp"

namespace gnnbench {

/// One trial to run.
struct TrialOrder {
    const PreparedCell& cell;
    Purpose purpose = Purpose::measure;
    std::int64_t number = 0;      ///< in its cell; also its randomised block
    int seen_conclusive = 0;      ///< see claim_trial
    int seen_verifications = -1;  ///< the same of a verification; −1: whatever there is when it is claimed
    double timeout_s = 3600;
    std::string export_folder{};  ///< empty: nothing is exported
    VerifyRequest verify{};
    std::vector<std::int64_t> trace_epochs{};  ///< see TrialRequest
    double late_step_timeout_s = 0;            ///< limit of a late step (see TrialRequest); 0: it has none
};

/// Progress of a running trial, from its journal lines.
struct TrialProgress {
    std::int64_t epochs = 0;  ///< finished, warm-up included
    double epoch_s =
        0;  ///< wall time of the last one, the slowest rank's; of independent workers the mean of each one's
    bool has_ended = false;  ///< by the ranks' own account; what follows is its late step
};

struct TrialResult {
    ClaimState claim = ClaimState::claimed;
    std::string holder;  ///< where another process runs it
    std::string trial;   ///< UUID
    TrialStatus status = TrialStatus::interrupted;
    std::string reason;  ///< of its status
    std::string log_tail;
    double wall_s = 0;
    bool unstarted = false;  ///< the launcher failed before any rank began: nothing of the cell is known
    double epoch_s =
        0;  ///< median of the measured epochs' wall times; of independent workers the mean; 0 without one
    std::optional<VerificationStatus> verification;  ///< what a verification found; empty without one
    std::string verification_reason;
    std::vector<std::string>
        damaged_journals;  ///< of dead processes, replayed to claim the trial: what is damaged
};

/// What is known of a trial from its journal lines so far.
class TrialReader {
public:
    explicit TrialReader(std::string trial = {}) : trial_(std::move(trial)) {}
    /// Ignores lines of other trials.
    void read(std::span<const nlohmann::json> lines);
    const TrialProgress& progress() const { return progress_; }
    /// How it ended, from `launched` and from the ranks' own lines, which take precedence unless a signal ended them. A
    /// trial whose late step took too long is ok.
    TrialOutcome outcome(const LaunchEnd& launched) const;
    TrialResult result(const TrialOutcome& outcome) const;
    /// Whether `launched` failed before any rank wrote a line: that is the environment's failure, not the cell's.
    bool unstarted(const LaunchEnd& launched) const {
        return launched.status == TrialStatus::failed && !ranks_reported_;
    }

private:
    void worker(const nlohmann::json& line);

    std::string trial_;
    bool ranks_reported_ = false;  ///< of a rank
    TrialProgress progress_;
    std::vector<double> measured_epoch_s_;
    struct WorkersEpoch {
        double end_s = 0;  ///< when the last worker so far left it
        bool warmup = false;
    };
    std::map<std::int64_t, WorkersEpoch> of_workers_;  ///< of independent workers only; so is the next
    std::map<std::int64_t, double> worker_epoch_s_;    ///< by rank: wall time of its last epoch
    std::optional<TrialStatus> end_status_;            ///< as the ranks reported it
    std::optional<VerificationStatus> verification_;
    std::string end_reason_, verification_reason_;
};

/// Runs trials one after another, each from its first journal line to its last. The caller decides which trial is
/// next, and what happens to the lines.
class TrialExecution {
public:
    using Watch = std::function<void(const TrialProgress&)>;
    using Lines = std::function<void(std::span<const nlohmann::json>)>;
    struct Place {
        std::string experiment;
        nlohmann::json source;              ///< of its trials' provenance, see source_of
        nlohmann::json machine;             ///< what makes times comparable
        std::filesystem::path database;     ///< the trials' folders are beside it
        int jobs = 1;                       ///< concurrent executions that share the launcher's cores
        std::shared_ptr<CorePool> cores{};  ///< from which each takes its own; nullptr: they share them
        bool judges_interrupts = true;  ///< false: a trial ended by a signal to this process gets no outcome here
    };
    /// `journal` and `launcher` must outlive it. `on_lines` gets the lines of it and the ranks. Throws EnvironmentError
    /// without the worker program.
    TrialExecution(JournalWriter& journal, const Launcher& launcher, Place place, Lines on_lines);

    TrialResult run(const TrialOrder& order, const Watch& watch);
    /// Records a trial that is not started, with the reason.
    TrialResult record_not_run(const TrialOrder& order, TrialStatus status, const std::string& reason);
    /// Passes on what is new in the journal.
    void read_journal();

private:
    void begin(const TrialOrder& order, const std::string& trial, const std::vector<int>& cpus);
    void end(const TrialOutcome& outcome);
    /// Until the ranks' last line is there: it may have been written on another host, and appear late.
    void await_end();

    JournalWriter& journal_;
    const Launcher& launcher_;
    Place place_;
    Lines on_lines_;
    std::string worker_;
    JournalTail tail_;
    TrialReader reader_;
};

/// "mg-gcn 4 gpus trial 2: 12.3 ms per epoch", or how it ended otherwise. `what`: the trial.
std::string trial_message(const std::string& what, const TrialResult& result);
/// "verify mg-gcn 4 gpus: failed (loss differs)".
std::string verification_message(const std::string& what, VerificationStatus status, const std::string& reason);
/// Why a cell is not measured whose verification failed for `reason`.
std::string unmeasured_reason(const std::string& reason);
bool is_unmeasured(const std::string& reason);

/// The arguments of `gnnbench run` that run the same again: file, profile, overrides.
nlohmann::json source_of(const Experiment& experiment);

/// The folder of a running trial's request and log, beside the journals.
std::filesystem::path trial_folder(const std::filesystem::path& database, const std::string& trial);
/// Where the serial reference's results are cached for later verifications: `<database>.reference`.
std::filesystem::path reference_cache(const std::filesystem::path& database);

}  // namespace gnnbench
