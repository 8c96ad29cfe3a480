#include "cli/trial_runner.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/environment.hpp"
#include "record/statistics.hpp"

namespace gnnbench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// A trial's request and log are gone when it is over: the log's tail is in the database.
class TrialFolder {
public:
    explicit TrialFolder(fs::path path) : path_(std::move(path)) {
        std::error_code error;
        fs::create_directories(path_, error);
        if (error) throw EnvironmentError("cannot make the folder '" + path_.string() + "': " + error.message());
    }
    ~TrialFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TrialFolder(const TrialFolder&) = delete;
    TrialFolder& operator=(const TrialFolder&) = delete;
    fs::path operator/(const char* file) const { return path_ / file; }

private:
    fs::path path_;
};

double slowest_rank_s(const json& epoch) {
    double wall_s = 0;
    for (const json& rank : epoch.at("ranks")) wall_s = std::max(wall_s, rank.value("wall_s", 0.0));
    return wall_s;
}

}  // namespace

fs::path trial_folder(const fs::path& database, const std::string& trial) {
    return fs::absolute(journal_folder(database)) / trial;
}

fs::path reference_cache(const fs::path& database) {
    fs::path cache = fs::absolute(database);
    cache += ".reference";
    return cache;
}

TrialRunner::TrialRunner(Database& database, std::string experiment, int jobs)
    : database_(database),
      experiment_(std::move(experiment)),
      mpiexec_(find_mpiexec()),
      worker_(find_worker()),
      machine_(to_json(this_machine(mpiexec_))),
      fingerprint_(gnnbench::machine_fingerprint(machine_)),
      cores_(usable_cores()),
      jobs_(jobs),
      journal_(Journal::create(database.path())),
      tail_(journal_.path()) {}

void TrialRunner::begin(const TrialOrder& order, const std::string& trial) {
    const Cell& cell = order.cell.cell;
    const RankLoad load{cell.gpus * jobs_, cell.threads_per_rank, cores_};
    journal_.append(trial_line({.trial = trial,
                                .experiment = experiment_,
                                .cell = order.cell.record,
                                .number = static_cast<int>(order.number),
                                .block = static_cast<int>(order.number),
                                .purpose = to_text(order.purpose),
                                .started = utc_now(),
                                .machine = machine_,
                                .provenance = provenance(),
                                .oversubscribed = load.oversubscribed()}));
    follow_ = {};
    follow_.trial = trial;
}

void TrialRunner::end(const TrialOutcome& outcome) {
    journal_.append(outcome_line(outcome));
    apply_new_lines();
}

void TrialRunner::apply_new_lines() {
    for (std::vector<json> lines = tail_.poll(); !lines.empty(); lines = tail_.poll()) {
        if (const ApplyResult result = database_.apply(lines); !result.problems.empty())
            throw LogicError("a journal line breaks the contract: " + result.problems.front());
        for (const json& line : lines) {
            if (line.at("trial") != follow_.trial) continue;
            const std::string type = line.at("type");
            if (type == "epoch") {
                ++follow_.progress.epochs;
                follow_.progress.epoch_s = slowest_rank_s(line);
                if (!line.value("warmup", false)) follow_.measured_epoch_s.push_back(follow_.progress.epoch_s);
            } else if (type == "end" && follow_.end_status.empty()) {
                follow_.end_status = line.at("status");
                follow_.end_reason = line.value("reason", "");
            }
        }
    }
}

/// The ranks know best why they ended, unless something ended them.
TrialOutcome TrialRunner::outcome_of(const std::string& trial, const LaunchEnd& end) const {
    TrialOutcome outcome{.trial = trial,
                         .status = to_text(end.kind),
                         .reason = end.reason,
                         .log_tail = end.log_tail,
                         .ended = utc_now(),
                         .wall_s = end.wall_s};
    const bool ended_itself = end.kind == EndKind::ok || end.kind == EndKind::failed;
    if (ended_itself && !follow_.end_status.empty() && (end.kind == EndKind::ok || follow_.end_status != "ok")) {
        outcome.status = follow_.end_status;
        outcome.reason = follow_.end_reason;
    } else if (end.kind == EndKind::ok) {
        outcome.status = "failed";
        outcome.reason = "its ranks ended with exit code 0 but without saying how it went";
    }
    if (outcome.status == "ok") outcome.log_tail.clear();
    return outcome;
}

TrialResult TrialRunner::run(const TrialOrder& order, const Watch& watch) {
    const bool verifies = order.purpose == Purpose::verify;
    const TrialKey key{.cell_digest = verifies ? order.cell.record.verification_key : order.cell.record.digest,
                       .machine = fingerprint_,
                       .number = static_cast<int>(order.number),
                       .purpose = to_text(order.purpose)};
    const int seen = verifies ? conclusive_trials(database_, key) : order.seen_conclusive;
    TrialResult result;
    const Claim claim = claim_trial(database_, journal_, key, seen);
    result.claim = claim.state;
    result.holder = claim.holder;
    if (claim.state != ClaimState::claimed) return result;

    const std::string trial = new_uuid();
    // The journal knows of the trial before it has a folder, so that whoever replays the journal can remove that.
    begin(order, trial);
    const TrialFolder folder(trial_folder(database_.path(), trial));
    const Cell& cell = order.cell.cell;
    write_request(folder / "request.json", {.trial = trial,
                                            .purpose = order.purpose,
                                            .journal = fs::absolute(journal_.path()).string(),
                                            .store = cell.dataset.store,
                                            .export_folder = order.export_folder,
                                            .verify = order.verify,
                                            .trace_epochs = order.trace_epochs,
                                            .cell = cell});
    const LaunchEnd launched = launch_trial(mpiexec_,
                                            {.trial = trial,
                                             .worker = worker_,
                                             .request = folder / "request.json",
                                             .log_file = folder / "log",
                                             .ranks = cell.scheme.is_program() ? 1 : cell.gpus,
                                             .threads_per_rank = cell.threads_per_rank,
                                             .timeout_s = order.timeout_s,
                                             .trials_at_once = jobs_},
                                            [&] {
                                                apply_new_lines();
                                                watch(follow_.progress);
                                            });
    const TrialOutcome outcome = outcome_of(trial, launched);
    end(outcome);
    release_trial(database_, journal_, key);
    result.trial = trial;
    result.status = outcome.status;
    result.reason = outcome.reason;
    result.log_tail = outcome.log_tail;
    result.wall_s = outcome.wall_s;
    if (!follow_.measured_epoch_s.empty()) result.epoch_s = median(follow_.measured_epoch_s);
    return result;
}

TrialResult TrialRunner::record_unrun(const TrialOrder& order, const std::string& status,
                                      const std::string& reason) {
    const std::string trial = new_uuid();
    begin(order, trial);
    end({.trial = trial, .status = status, .reason = reason, .log_tail = "", .ended = utc_now(), .wall_s = 0});
    TrialResult result;
    result.trial = trial;
    result.status = status;
    result.reason = reason;
    return result;
}

void TrialRunner::finish() {
    apply_new_lines();
    journal_.remove();
}

}  // namespace gnnbench
