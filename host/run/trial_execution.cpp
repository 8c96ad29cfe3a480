#include "run/trial_execution.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <numeric>
#include <thread>

#include <sys/stat.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/interrupt.hpp"
#include "launch/trial.hpp"
#include "record/statistics.hpp"
#include "report/format.hpp"

namespace gnnbench {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Removes a trial's request and log when it has ended: the log's tail is in the database.
class TrialFolder {
public:
    explicit TrialFolder(fs::path path) : path_(std::move(path)) {
        std::error_code error;
        fs::create_directories(path_.parent_path(), error);
        // Exclusively: a folder of another's making could hold links where the request and the log are written.
        if (::mkdir(path_.c_str(), S_IRWXU) != 0)
            throw EnvironmentError("cannot create the folder '" + path_.string() + "': " + std::strerror(errno));
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

double mean(std::span<const double> values) {
    return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

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

void TrialReader::read(std::span<const json> lines) {
    for (const json& line : lines) {
        if (line.at("trial") != trial_) continue;
        const std::string type = line.at("type");
        ranks_reported_ = ranks_reported_ || (type != "trial" && type != "outcome");
        if (type == "epoch") {
            ++progress_.epochs;
            progress_.epoch_s = line.value("wall_s", slowest_rank_s(line));
            if (!line.value("warmup", false)) measured_epoch_s_.push_back(progress_.epoch_s);
        } else if (type == "worker") {
            worker(line);
        } else if (type == "verification") {
            verification_ = verification_status(line.at("status").get<std::string>());
            verification_reason_ = line.value("reason", "");
        } else if (type == "end" && end_status_.value_or(TrialStatus::ok) == TrialStatus::ok) {
            progress_.has_ended = true;
            end_status_ = trial_status(line.at("status").get<std::string>());
            end_reason_ = line.value("reason", "");
        }
    }
}

void TrialReader::worker(const json& line) {
    const std::int64_t epoch = line.value("epoch", std::int64_t{0});
    WorkersEpoch& of_all = of_workers_[epoch];
    of_all.end_s = std::max(of_all.end_s, line.value("end_s", 0.0));
    of_all.warmup = line.value("warmup", false);
    progress_.epochs = std::max(progress_.epochs, epoch);  // others may still be in this one
    worker_epoch_s_[line.value("rank", std::int64_t{0})] = line.value("wall_s", 0.0);
    double sum_s = 0;
    for (const auto& [rank, wall_s] : worker_epoch_s_) sum_s += wall_s;
    progress_.epoch_s = sum_s / static_cast<double>(worker_epoch_s_.size());
    // An epoch lasts from when the last worker left those before to when the last one left it.
    measured_epoch_s_.clear();
    double before_s = 0;
    for (const auto& [number, workers] : of_workers_) {
        const double end_s = std::max(before_s, workers.end_s);
        if (!workers.warmup) measured_epoch_s_.push_back(end_s - before_s);
        before_s = end_s;
    }
}

TrialOutcome TrialReader::outcome(const LaunchEnd& launched) const {
    TrialOutcome outcome{.trial = trial_,
                         .status = launched.status,
                         .reason = launched.reason,
                         .log_tail = launched.log_tail,
                         .ended = utc_now(),
                         .wall_s = launched.wall_s};
    const bool ended_itself = launched.status == TrialStatus::ok || launched.status == TrialStatus::failed;
    if (launched.late_step_cut() ||
        (ended_itself && end_status_ && (launched.status == TrialStatus::ok || end_status_ != TrialStatus::ok))) {
        outcome.status = end_status_.value_or(TrialStatus::failed);
        outcome.reason = end_reason_;
    } else if (launched.status == TrialStatus::ok) {
        outcome.status = TrialStatus::failed;
        outcome.reason = "its ranks ended with exit code 0 but without reporting a result";
    } else if (unstarted(launched)) {
        outcome.status = TrialStatus::interrupted;  // so that it is due again
        outcome.reason = "environment: the launcher ended with " + launched.reason + " before any rank began";
    }
    if (outcome.status == TrialStatus::ok) outcome.log_tail.clear();
    return outcome;
}

TrialResult TrialReader::result(const TrialOutcome& outcome) const {
    TrialResult result;
    result.trial = trial_;
    result.status = outcome.status;
    result.reason = outcome.reason;
    result.log_tail = outcome.log_tail;
    result.wall_s = outcome.wall_s;
    // As records summarise it.
    if (!measured_epoch_s_.empty())
        result.epoch_s = of_workers_.empty() ? median(measured_epoch_s_) : mean(measured_epoch_s_);
    result.verification = verification_;
    result.verification_reason = verification_reason_;
    return result;
}

std::string trial_message(const std::string& what, const TrialResult& result) {
    return what + ": " +
           (result.status == TrialStatus::ok ? duration_text(result.epoch_s) + " per epoch"
                                             : to_text(result.status) + ": " + first_line(result.reason));
}

std::string verification_message(const std::string& what, VerificationStatus status, const std::string& reason) {
    return what + ": " + to_text(status) + (reason.empty() ? "" : " (" + first_line(reason) + ")");
}

namespace {
constexpr const char* unmeasured = "not measured, because its verification failed: ";
}
std::string unmeasured_reason(const std::string& reason) { return unmeasured + reason; }
bool is_unmeasured(const std::string& reason) { return reason.starts_with(unmeasured); }

json source_of(const Experiment& experiment) {
    json source{{"file", experiment.file.string()}};
    if (!experiment.profile.empty()) source["profile"] = experiment.profile;
    if (!experiment.overrides.empty()) source["overrides"] = experiment.overrides;
    return source;
}

TrialExecution::TrialExecution(JournalWriter& journal, const Launcher& launcher, Place place, Lines on_lines)
    : journal_(journal),
      launcher_(launcher),
      place_(std::move(place)),
      on_lines_(std::move(on_lines)),
      worker_(launcher.worker()),
      tail_(journal.path()) {}

namespace {

/// Processors that a trial fills.
RankLoad load_of(const PreparedCell& cell, const Launcher& launcher) {
    const int ranks = cell.simulated ? 1 : cell.cell.gpus;
    return {ranks, cell.cell.threads_per_rank, launcher.cores_for(ranks, cell.cell.threads_per_rank)};
}

}  // namespace

void TrialExecution::begin(const TrialOrder& order, const std::string& trial, const std::vector<int>& cpus) {
    RankLoad load = load_of(order.cell, launcher_);
    if (place_.cores)
        load.cores = place_.cores->size();
    else
        load.ranks *= place_.jobs;
    json known = provenance();
    known["source"] = place_.source;
    if (!cpus.empty()) known["cpus"] = cpus;
    journal_.append(trial_line({.trial = trial,
                                .experiment = place_.experiment,
                                .cell = order.cell.record,
                                .number = static_cast<int>(order.number),
                                .block = static_cast<int>(order.number),
                                .purpose = to_text(order.purpose),
                                .started = utc_now(),
                                .machine = place_.machine,
                                .provenance = std::move(known),
                                .oversubscribed = load.oversubscribed() && !order.cell.simulated}));
    reader_ = TrialReader(trial);
}

void TrialExecution::end(const TrialOutcome& outcome) {
    journal_.append(outcome_line(outcome));
    read_journal();
}

void TrialExecution::await_end() {
    using Clock = std::chrono::steady_clock;
    // NFS shows what another host appended within a minute. mpiexec's first rank rarely is on another host.
    const auto deadline = Clock::now() + std::chrono::seconds(launcher_.on_other_hosts() ? 75 : 10);
    while (!reader_.progress().has_ended && Clock::now() < deadline && !InterruptGuard::requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const std::ifstream asks_for_news(journal_.path());  // opening a file makes NFS look at its size
        read_journal();
    }
}

void TrialExecution::read_journal() {
    for (std::vector<json> lines = tail_.poll(); !lines.empty(); lines = tail_.poll()) {
        on_lines_(lines);
        reader_.read(lines);
    }
}

TrialResult TrialExecution::run(const TrialOrder& order, const Watch& watch) {
    const std::string trial = new_uuid();
    const RankLoad load = load_of(order.cell, launcher_);
    const CoreLease cores = place_.cores ? place_.cores->take(load.ranks * load.threads_per_rank) : CoreLease();
    // The journal names the trial before its folder is created, so that a replay of the journal can remove the folder.
    begin(order, trial, cores.cpus());
    const TrialFolder folder(trial_folder(place_.database, trial));
    const Cell& cell = order.cell.cell;
    write_request(folder / "request.json", {.trial = trial,
                                            .purpose = order.purpose,
                                            .journal = fs::absolute(journal_.path()).string(),
                                            .store = cell.dataset.store,
                                            .export_folder = order.export_folder,
                                            .verify = order.verify,
                                            .trace_epochs = order.trace_epochs,
                                            .late_step = order.late_step_timeout_s > 0,
                                            .shares_host = place_.jobs > 1,
                                            .cell = cell});
    const LaunchEnd launched =
        launch_trial(launcher_,
                     {.trial = trial,
                      .worker = worker_,
                      .request = folder / "request.json",
                      .log_file = folder / "log",
                      .ranks = cell.scheme.is_program() || order.cell.simulated ? 1 : cell.gpus,
                      .threads_per_rank = cell.threads_per_rank,
                      .timeout_s = order.timeout_s,
                      .late_step_timeout_s = order.late_step_timeout_s,
                      .trials_at_once = place_.jobs,
                      .needs_gpus = !order.cell.in_host_memory,
                      .simulated = order.cell.simulated,
                      .cpus = cores.cpus()},
                     [&] {
                         read_journal();
                         watch(reader_.progress());
                         return reader_.progress().has_ended;
                     });
    if (launched.status == TrialStatus::ok) await_end();
    if (launched.late_step_cut())
        journal_.append({{"type", "verification"},
                         {"trial", trial},
                         {"status", to_text(VerificationStatus::unverified)},
                         {"reason", launched.reason}});
    const TrialOutcome outcome = reader_.outcome(launched);
    if (launched.status != TrialStatus::interrupted || place_.judges_interrupts) end(outcome);
    TrialResult result = reader_.result(outcome);
    result.unstarted = reader_.unstarted(launched);
    return result;
}

TrialResult TrialExecution::record_not_run(const TrialOrder& order, TrialStatus status,
                                           const std::string& reason) {
    const std::string trial = new_uuid();
    begin(order, trial, {});
    const TrialOutcome outcome{
        .trial = trial, .status = status, .reason = reason, .log_tail = "", .ended = utc_now(), .wall_s = 0};
    end(outcome);
    return reader_.result(outcome);
}

}  // namespace gnnbench
