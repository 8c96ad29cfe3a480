#include "run/trial_runner.hpp"

#include <gnnbench/error.hpp>

namespace gnnbench {

TrialRunner::TrialRunner(Database& database, const Experiment& experiment,
                         std::shared_ptr<const Launcher> launcher, int jobs, std::shared_ptr<CorePool> cores)
    : database_(database),
      launcher_(std::move(launcher)),
      cores_(std::move(cores)),
      fingerprint_(gnnbench::machine_fingerprint(to_json(launcher_->machine()))),
      journal_(Journal::create(database.path())),
      execution_(journal_, *launcher_,
                 {.experiment = experiment.name,
                  .source = source_of(experiment),
                  .machine = to_json(launcher_->machine()),
                  .database = database.path(),
                  .jobs = jobs,
                  .cores = cores_},
                 [this](std::span<const nlohmann::json> lines) {
                     const ApplyResult result = database_.apply(lines);
                     if (!result.problems.empty())
                         throw LogicError("a journal line violates the contract: " + result.problems.front());
                 }) {}

std::shared_ptr<CorePool> cores_for(const Launcher& launcher, int jobs) {
    if (jobs <= 1 || launcher.on_other_hosts()) return nullptr;
    std::vector<int> cpus = usable_cpus();
    return cpus.empty() ? nullptr : std::make_shared<CorePool>(std::move(cpus));
}

TrialKey key_of(const TrialOrder& order, const std::string& machine_fingerprint) {
    const CellRecord& cell = order.cell.record;
    return {.cell_digest = order.purpose == Purpose::verify ? cell.verification_key : cell.digest,
            .machine = machine_fingerprint,
            .number = static_cast<int>(order.number),
            .purpose = to_text(order.purpose)};
}

TrialResult TrialRunner::run(const TrialOrder& order, const Watch& watch) {
    const TrialKey key = key_of(order, fingerprint_);
    int seen = order.seen_conclusive;
    if (order.purpose == Purpose::verify)
        seen = order.seen_verifications >= 0 ? order.seen_verifications : conclusive_trials(database_, key);
    const Claim claim = claim_trial(database_, journal_, key, seen);
    TrialResult result;
    result.claim = claim.state;
    result.holder = claim.holder;
    if (claim.state == ClaimState::claimed) result = execution_.run(order, watch);
    result.damaged_journals = claim.problems;
    if (claim.state != ClaimState::claimed) return result;
    release_trial(database_, journal_, key);
    return result;
}

void TrialRunner::finish() {
    execution_.read_journal();
    journal_.remove();
}

}  // namespace gnnbench
