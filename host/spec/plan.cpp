#include "spec/plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "launch/nodes.hpp"
#include "spec/cell_choice.hpp"
#include "spec/footprint.hpp"

namespace gnnbench {

const char* to_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::run:
            return "run";
        case Verdict::present:
            return "present";
        case Verdict::failed:
            return "failed";
        case Verdict::skipped:
            return "skipped";
    }
    return "";
}

bool oversubscribed(const Cell& cell, int cores) {
    return static_cast<std::int64_t>(cell.gpus) * cell.threads_per_rank > cores;
}

bool in_host_memory(const Cell& cell, const PluginSource& plugins) {
    const auto facts = plugins.find(PluginKind::kernel, cell.kernel.name);
    return facts && facts->in_host_memory;
}

bool simulated(const Cell& cell, const PluginSource& plugins) {
    const auto facts = plugins.find(PluginKind::kernel, cell.kernel.name);
    return facts && facts->simulates;
}

namespace {

std::int64_t missing_trials(std::int64_t wanted, const Stored& stored, Again again) {
    if (again == Again::all) return wanted;
    const std::int64_t kept = stored.ok + (again == Again::failed ? 0 : stored.failed);
    return std::max<std::int64_t>(0, wanted - kept);
}

std::string gibibytes(std::int64_t bytes) {
    return fmt::format("{:.1f} GiB", std::ldexp(static_cast<double>(bytes), -30));
}

/// Of all nodes that its ranks get.
std::int64_t memory_of(const Cell& cell, const PlanRules& rules) {
    if (rules.cores_of_a_node == 0) return rules.host_memory_bytes;
    return rules.host_memory_bytes * nodes_for(cell.gpus * cell.threads_per_rank, rules.cores_of_a_node);
}

/// Why the processes of all ranks together cannot have what they hold; empty if they may. The kernel does not matter:
/// what a rank cuts is on its host.
std::string why_host_too_small(const Cell& cell, std::int64_t own_bytes, const PlanRules& rules) {
    if (rules.force || rules.host_memory_bytes == 0 || own_bytes <= memory_of(cell, rules)) return {};
    return fmt::format(
        "memory: the processes of its {} ranks hold {} at once, beside mapped files, and {} {} (--force runs it "
        "anyway)",
        cell.gpus, gibibytes(own_bytes), rules.on_other_hosts ? "the nodes have" : "this host has",
        gibibytes(memory_of(cell, rules)));
}

/// Why a cell cannot fit in memory; empty if it may.
std::string why_too_large(const Cell& cell, std::int64_t least_bytes, const Limits& limits, const PlanRules& rules,
                          const PluginSource& plugins) {
    if (least_bytes == 0 || rules.force) return {};
    const auto needs = [&](std::int64_t there_bytes, const std::string& whose) {
        return fmt::format(
            "memory: each of its {} ranks needs at least {}, and {} has {} (--force runs it anyway)", cell.gpus,
            gibibytes(least_bytes), whose, gibibytes(there_bytes));
    };
    if (limits.memory_per_rank_gib > 0) {
        const auto limit_bytes = static_cast<std::int64_t>(std::ldexp(limits.memory_per_rank_gib, 30));
        return least_bytes > limit_bytes ? needs(limit_bytes, "a rank (limits.memory_per_rank)") : "";
    }
    if (rules.host_memory_bytes == 0) return {};
    const std::int64_t share_bytes = memory_of(cell, rules) / cell.gpus;
    return least_bytes > share_bytes && in_host_memory(cell, plugins)
               ? needs(share_bytes,
                       rules.on_other_hosts ? "its share of the nodes' memory" : "its share of this host's memory")
               : "";
}

}  // namespace

std::vector<bool> chosen_cells(const Experiment& experiment, const std::string& where) {
    if (where.empty()) return std::vector<bool>(experiment.cells.size(), true);
    try {
        return CellChoice(experiment.cells, std::vector{where}).where(where);
    } catch (const SpecError& e) {
        throw SpecError(std::string("--where: ") + e.what());
    }
}

void require_some_cell(const Experiment& experiment, const std::string& where) {
    const std::vector<bool> chosen = chosen_cells(experiment, where);
    if (std::ranges::count(chosen, true) > 0 || chosen.empty()) return;
    throw SpecError(fmt::format("--where: no cell of {} fits \"{}\"; {}", experiment.name, where,
                                CellChoice(experiment.cells, std::vector{where}).values_of_fields(where)));
}

Plan make_plan(const Experiment& experiment, const PlanSources& sources, const PlanRules& rules, int cores) {
    Plan plan;
    const std::vector<bool> chosen = chosen_cells(experiment, rules.where);
    std::map<std::pair<std::string, int>, std::optional<DatasetFacts>> datasets;  // each store is read once
    const DatasetChoice* last = nullptr;  // most cells have the dataset of the one before
    const std::optional<DatasetFacts>* facts = nullptr;
    for (std::size_t i = 0; i < experiment.cells.size(); ++i) {
        if (!chosen[i]) continue;
        const Cell& cell = experiment.cells[i];
        PlannedCell p;
        p.cell = i;
        p.digest = sources.digests.empty() ? cell_digest(cell) : sources.digests[i];
        p.oversubscribed = oversubscribed(cell, cores) && !simulated(cell, sources.plugins);
        // Datasets are distinguished by the store's digest, or by their source if there is no store.
        const DatasetChoice& dataset = cell.dataset;
        if (!last || dataset.split != last->split || dataset.store != last->store ||
            dataset.digest != last->digest || dataset.source != last->source) {
            const std::pair key(dataset.store.empty() ? dataset.source.text() : dataset.store, dataset.split);
            auto known = datasets.find(key);
            if (known == datasets.end()) known = datasets.emplace(key, sources.dataset(dataset)).first;
            last = &dataset;
            facts = &known->second;
        }
        if (!*facts) ++plan.unknown_dataset;
        p.reason = why_unsupported_without_kernel(cell, *facts, sources.plugins);
        if (p.reason.empty())
            (rules.on_other_hosts ? p.asked_there : p.reason) = why_kernel_unsupported(cell, sources.plugins);
        if (p.reason.empty() && cell.scheme.is_program() && rules.ask_programs && !rules.on_other_hosts)
            p.reason = sources.program(cell);
        if (*facts) p.least_memory_bytes = least_memory_bytes(cell, **facts);
        if (p.reason.empty() && *facts && sources.stated_memory) p.stated = sources.stated_memory(cell);
        if (p.reason.empty())
            p.reason = why_too_large(cell, std::max(p.least_memory_bytes, p.stated.device), experiment.limits,
                                     rules, sources.plugins);
        if (p.reason.empty()) p.reason = why_host_too_small(cell, p.stated.host_own, rules);
        if (!p.reason.empty()) {
            p.verdict = Verdict::skipped;
            ++plan.skipped;
        } else {
            p.stored = sources.stored(p.digest);
            p.trials = missing_trials(experiment.trials, p.stored, rules.again);
            p.verdict = p.trials > 0 ? Verdict::run : p.stored.failed > 0 ? Verdict::failed : Verdict::present;
            ++(p.verdict == Verdict::run ? plan.run : p.verdict == Verdict::failed ? plan.failed : plan.present);
            plan.trials += p.trials;
            plan.stale += p.stored.stale > 0;
        }
        plan.cells.push_back(std::move(p));
    }
    return plan;
}

}  // namespace gnnbench
