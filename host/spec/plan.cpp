#include "spec/plan.hpp"

#include <algorithm>
#include <map>

namespace gnnbench {

const char* to_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::run: return "run";
        case Verdict::present: return "present";
        case Verdict::skipped: return "skipped";
    }
    return "";
}

bool oversubscribed(const Cell& cell, int cores) {
    return static_cast<std::int64_t>(cell.gpus) * cell.threads_per_rank > cores;
}

namespace {

std::int64_t missing_trials(std::int64_t wanted, const Stored& stored, Again again) {
    if (again == Again::all) return wanted;
    const std::int64_t kept = stored.ok + (again == Again::failed ? 0 : stored.failed);
    return std::max<std::int64_t>(0, wanted - kept);
}

}  // namespace

Plan make_plan(const Experiment& experiment, const PlanSources& sources, Again again, int cores) {
    Plan plan;
    std::map<std::string, std::optional<DatasetFacts>> datasets;  // by source: a store is looked at once
    for (std::size_t i = 0; i < experiment.cells.size(); ++i) {
        const Cell& cell = experiment.cells[i];
        PlannedCell p;
        p.cell = i;
        p.digest = cell_digest(cell);
        p.oversubscribed = oversubscribed(cell, cores);
        const std::string source = cell.dataset.source.dump();
        auto known = datasets.find(source);
        if (known == datasets.end()) known = datasets.emplace(source, sources.dataset(cell.dataset)).first;
        if (!known->second) ++plan.unknown_dataset;
        p.reason = why_unsupported(cell, known->second, sources.plugins);
        if (!p.reason.empty()) {
            p.verdict = Verdict::skipped;
            ++plan.skipped;
        } else {
            p.stored = sources.stored(p.digest);
            p.trials = missing_trials(experiment.trials, p.stored, again);
            p.verdict = p.trials > 0 ? Verdict::run : Verdict::present;
            ++(p.trials > 0 ? plan.run : plan.present);
            plan.trials += p.trials;
        }
        plan.cells.push_back(std::move(p));
    }
    return plan;
}

}  // namespace gnnbench
