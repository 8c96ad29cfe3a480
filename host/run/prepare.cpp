#include "run/prepare.hpp"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/usize.hpp>

#include "core/plural.hpp"
#include "launch/machine.hpp"
#include "run/code_digest.hpp"
#include "run/definitions.hpp"
#include "run/program_probe.hpp"
#include "spec/distinctions.hpp"
#include "spec/setting.hpp"
#include "spec/words.hpp"

namespace gnnbench {

namespace {

/// Fills in what `dataset` names.
void resolve_choice(DatasetChoice& dataset, const Catalog& catalog, Datasets datasets, const Notify& notify) {
    nlohmann::json source = *dataset.source;
    source["split"] = dataset.split;
    const ResolvedDataset resolved =
        datasets == Datasets::make ? ensure_dataset(source, catalog, notify) : resolve_dataset(source, catalog);
    dataset.digest = resolved.digest;
    if (!resolved.store.empty() && !resolved.digest.empty())
        dataset.store = std::filesystem::absolute(resolved.store).string();
}

/// One verification covers all cells that differ only in epochs, trials and optimiser: it runs its own epochs of SGD.
/// It serves the code that it ran, and no other build of it.
std::string verification_key(const Cell& cell, const nlohmann::json& code) {
    const std::string checked = cell_digest(as_verified(cell)) + code.dump();
    const XXH128_hash_t h = XXH3_128bits(checked.data(), checked.size());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

std::string approximation_of(const Cell& cell, const PluginSource& plugins) {
    if (cell.scheme.is_program()) return program_approximation(cell);
    return plugins.strategy(cell.scheme.name).approximation_of(cell.model, cell.scheme.params);
}

void name_distinctions(std::vector<PreparedCell>& cells) {
    std::vector<const Cell*> all;
    for (const PreparedCell& cell : cells) all.push_back(&cell.cell);
    const VaryingFields varying = distinctions(all);
    for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i].varied = named_values(varying.names, varying.values[i]);
}

}  // namespace

CellRecord record_of(const Cell& cell, nlohmann::json code, Datasets datasets) {
    CellRecord record;
    record.digest = cell_digest(cell);
    if (datasets == Datasets::make) {
        record.identity = to_json(cell, JsonFor::identity);
        record.verification_key = verification_key(cell, code);
    }
    record.code = std::move(code);
    return record;
}

Experiment load(const ExperimentChoice& choice, const Catalog& catalog, const PluginSource& plugins,
                const HostsOf& hosts_of) {
    if (find_definition(choice.file.string()))
        throw SpecError(
            fmt::format("'{0}' is a paper's table, not an experiment; gnnbench table {0} prints it, and its "
                        "`experiments` say what to run",
                        choice.file.string()));
    if (holds_claims(choice.file))
        throw SpecError(
            fmt::format("'{0}' is a list of a paper's claims, not an experiment; gnnbench claims {0} judges them",
                        choice.file.string()));
    LoadOptions options;
    options.overrides = choice.overrides;
    options.profile = choice.profile;
    options.cores = usable_cores();
    options.hosts_of = hosts_of;
    return load_experiment(choice.file, options, plugins, InstalledDatasets(catalog));
}

PreparedExperiment prepare(Experiment experiment, const Catalog& catalog, const PluginSource& plugins,
                           Datasets datasets, const Notify& notify) {
    PreparedExperiment prepared{std::move(experiment), {}};
    std::map<std::string, DatasetChoice> known;  // each is created, or looked up, once
    CodeDigests code(plugins);
    std::map<std::string, bool> on_host, in_virtual_time;  // by kernel
    prepared.cells.reserve(prepared.experiment.cells.size());
    const DatasetChoice* last = nullptr;  // most cells have the dataset of the one before
    for (Cell& cell : prepared.experiment.cells) {
        DatasetChoice& dataset = cell.dataset;
        if (!last || dataset.split != last->split || dataset.source != last->source) {
            const std::string key = dataset.source.text() + std::to_string(dataset.split);
            if (!known.contains(key)) {
                resolve_choice(dataset, catalog, datasets, notify);
                known[key] = dataset;
            }
            last = &known[key];
        }
        dataset.name = last->name;
        dataset.digest = last->digest;
        dataset.store = last->store;
        const std::string& kernel = cell.kernel.name;
        if (!on_host.contains(kernel)) {
            in_virtual_time[kernel] = simulated(cell, plugins);
            on_host[kernel] = in_host_memory(cell, plugins) || in_virtual_time[kernel];
        }
        prepared.cells.push_back({cell, record_of(cell, code.of(cell), datasets), approximation_of(cell, plugins),
                                  on_host.at(kernel), in_virtual_time.at(kernel)});
    }
    if (datasets == Datasets::make) name_distinctions(prepared.cells);
    return prepared;
}

Plan plan_of(const PreparedExperiment& prepared, const PluginSource& plugins, const Database* database,
             const Site& site, PlanRules rules, std::function<StatedMemory(const Cell&)> stated_memory) {
    std::map<std::string, std::vector<TrialState>> states;  // of all cells at once: there may be thousands
    if (database) states = database->all_trials(site.fingerprint);
    std::vector<std::string> digests;
    std::map<std::string, const PreparedCell*> cells;
    for (const PreparedCell& cell : prepared.cells) {
        digests.push_back(cell.record.digest);
        if (states.contains(cell.record.digest)) cells.emplace(cell.record.digest, &cell);
    }
    const auto stored = [&](const std::string& digest) {
        const auto found = states.find(digest);
        if (found == states.end()) return Stored{};
        return due_trials(found->second, prepared.experiment.trials, rules, cells.at(digest)->record.code).stored;
    };
    rules.host_memory_bytes = site.memory_bytes;
    rules.cores_of_a_node = site.adds_nodes ? site.cores : 0;
    rules.on_other_hosts = site.on_other_hosts;
    ProgramProbes probes;
    return make_plan(prepared.experiment,
                     {.plugins = plugins,
                      .dataset = facts_of,
                      .stored = stored,
                      .program = [&](const Cell& cell) { return probes.why_not(cell); },
                      .stated_memory = std::move(stated_memory),
                      .digests = digests},
                     rules, site.cores);
}

namespace {

/// A trial measured by an older gnnbench has no digests of its libraries; then its sources' tell.
bool is_stale(const TrialState& state, const std::string& code) {
    static const std::string build = build_info().digest;
    return state.build != build || (!state.code.empty() && state.code != code);
}

}  // namespace

DueTrials due_trials(const std::vector<TrialState>& states, std::int64_t trials, const PlanRules& rules,
                     const nlohmann::json& code) {
    const std::string present = code_text(code);
    std::map<std::int64_t, const TrialState*> known;
    for (const TrialState& state : states) known[state.number] = &state;
    DueTrials result;
    for (std::int64_t number = 0; number < trials; ++number) {
        const auto found = known.find(number);
        const bool conclusive = found != known.end() && is_conclusive(found->second->status);
        const bool ok = conclusive && found->second->status == TrialStatus::ok;
        const bool stale = conclusive && is_stale(*found->second, present);
        const bool unfinished = conclusive && !found->second->rerun_asked.empty();
        const bool again = rules.again == Again::all || (rules.again == Again::failed && !ok) ||
                           (rules.stale && stale) || unfinished;
        if (conclusive && !unfinished && !(rules.stale && stale)) {
            ++(ok ? result.stored.ok : result.stored.failed);
            if (!ok) ++result.stored.endings[found->second->status];
        }
        result.stored.rerun += unfinished;
        result.stored.stale += stale;
        if (!conclusive || again) result.due.push_back(number);
    }
    return result;
}

UnfinishedRerun unfinished_rerun(const PreparedExperiment& prepared, const std::string& where,
                                 const Database& database, const std::string& machine) {
    UnfinishedRerun found;
    const std::vector<bool> chosen = chosen_cells(prepared.experiment, where);
    const auto states = database.all_trials(machine);
    for (std::size_t i = 0; i < prepared.cells.size(); ++i) {
        const auto known = states.find(prepared.cells[i].record.digest);
        if (!chosen[i] || known == states.end()) continue;
        for (const TrialState& state : known->second) {
            if (state.rerun_asked.empty() || state.number >= prepared.experiment.trials) continue;
            ++found.trials;
            if (found.asked.empty() || state.rerun_asked < found.asked) found.asked = state.rerun_asked;
        }
    }
    return found;
}

namespace {

std::string label_of(std::string_view dataset, std::string_view scheme, std::string_view partitioner,
                     std::int64_t gpus) {
    return fmt::format("{} {}{}{} {}", dataset, scheme, gpus > 1 ? " " : "", gpus > 1 ? partitioner : "",
                       plural(gpus, "gpu"));
}

}  // namespace

std::string cell_label(const Cell& cell) {
    return label_of(cell.dataset.name, cell.scheme.label, cell.partitioner.label, cell.gpus);
}

std::string cell_label(const PreparedCell& cell) {
    return cell_label(cell.cell) + (cell.varied.empty() ? "" : ", " + cell.varied);
}

std::string cell_label(const nlohmann::json& identity) {
    const auto text = [&](const char* field, const char* part) -> const std::string& {
        return identity.at(field).at(part).get_ref<const std::string&>();
    };
    return label_of(text("dataset", "name"), text("scheme", "label"), text("partitioner", "label"),
                    identity.at("gpus").get<std::int64_t>());
}

}  // namespace gnnbench
