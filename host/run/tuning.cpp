#include "run/tuning.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/strategy.hpp>

#include "run/program_permission.hpp"
#include "spec/machine_file.hpp"
#include "spec/program_file.hpp"
#include "spec/text_file.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;

ordered_json written(const ParamValue& value) {
    return std::visit([](const auto& v) { return ordered_json(v); }, value);
}

/// A plugin with the parameters that differ from its defaults; as an experiment writes it in one line.
ordered_json as_written(const PluginChoice& choice, const PluginSource& plugins, PluginKind kind) {
    ordered_json map{{"name", choice.name}};
    const auto facts = plugins.find(kind, choice.name);
    const Params usual = facts ? Params(facts->params) : Params();
    for (const auto& [name, value] : choice.params.values()) {
        const auto at = usual.values().find(name);
        if (at == usual.values().end() || at->second != value) map[name] = written(value);
    }
    return map;
}

/// A list without repetitions, in the order in which its members came.
class Candidates {
public:
    void add(const ordered_json& one) {
        if (seen_.insert(one.dump()).second) list_.push_back(one);
    }
    std::string text() const { return list_.dump(); }

private:
    ordered_json list_ = ordered_json::array();
    std::set<std::string> seen_;
};

void add_arrangements(const ordered_json& scheme, int gpus, const PluginSource& plugins, Candidates& out) {
    const auto name = scheme.at("name").get<std::string>();
    const auto declared = plugins.find(PluginKind::strategy, name)->params;
    for (const ParamTexts& arrangement : plugins.strategy(name).arrangements(gpus)) {
        ordered_json one = scheme;
        Params params(declared);
        for (const ParamDecl& d : declared) {
            const auto at = arrangement.find(d.name);
            if (at == arrangement.end()) continue;
            params.set(d, at->second);
            one[d.name] = written(params.values().find(at->first)->second);
        }
        out.add(one);
    }
}

bool trains_exactly_on_the_whole_graph(const std::string& name, const PluginSource& plugins) {
    const Strategy& strategy = plugins.strategy(name);
    return !strategy.trains_on_batches() &&
           strategy.approximation(Params(plugins.find(PluginKind::strategy, name)->params)).empty();
}

std::string schemes(const TuningRequest& r, const Experiment& asked, const PluginSource& plugins) {
    Candidates out;
    std::set<std::string> named;
    for (const Cell& cell : asked.cells)
        if (!cell.scheme.is_program() && (r.schemes.empty() || std::ranges::count(r.schemes, cell.scheme.name))) {
            add_arrangements(as_written(cell.scheme, plugins, PluginKind::strategy), r.gpus, plugins, out);
            named.insert(cell.scheme.name);
        }
    for (const std::string& name : r.schemes.empty() ? plugins.names(PluginKind::strategy) : r.schemes) {
        if (named.contains(name)) continue;
        if (!plugins.find(PluginKind::strategy, name))
            throw SpecError(
                fmt::format("there is no scheme '{}'; `gnnbench plugin list` shows those that are", name));
        if (!r.schemes.empty() || trains_exactly_on_the_whole_graph(name, plugins))
            add_arrangements({{"name", name}}, r.gpus, plugins, out);
    }
    return out.text();
}

/// Whether each cell may have its partitioner started, should that be a program.
std::vector<bool> startable(const TuningRequest& r, const Experiment& asked, const PluginSource& plugins) {
    std::vector<bool> may(asked.cells.size(), true);
    for (std::size_t i = 0; i < may.size(); ++i) {
        if (r.experiment.allow_programs || !starts_a_program(asked.cells[i].partitioner, plugins)) continue;
        std::vector<bool> this_one(may.size());
        this_one[i] = true;
        may[i] = already_allowed(started_programs(asked, this_one, plugins));
    }
    return may;
}

std::string partitioners(const TuningRequest& r, const Experiment& asked, const PluginSource& plugins,
                         std::vector<NotPredicted>& left_out) {
    Candidates out;
    if (r.partitioners.empty()) {
        const std::vector<bool> may = startable(r, asked, plugins);
        for (std::size_t i = 0; i < may.size(); ++i) {
            const PluginChoice& p = asked.cells[i].partitioner;
            if (may[i])
                out.add(as_written(p, plugins, PluginKind::partitioner));
            else
                left_out.push_back({"partitioner " + p.label, p.label,
                                    "starts a program, which tune does only with --allow-programs"});
        }
        for (const char* name : {"random", "metis"})
            if (plugins.find(PluginKind::partitioner, name)) out.add({{"name", name}});
    }
    for (const std::string& name : r.partitioners) {
        if (!plugins.find(PluginKind::partitioner, name))
            throw SpecError(
                fmt::format("there is no partitioner '{}'; `gnnbench plugin list` shows those that are", name));
        out.add({{"name", name}});
    }
    return out.text();
}

/// A file stands relative to the experiment in an experiment, and to the current folder in a command.
std::string machine_text_of(const std::string& given) {
    SimulatedChoice choice(given);
    for (std::string* named : {&choice.machine, &choice.program})
        if (names_yaml_file(*named)) *named = std::filesystem::absolute(*named).string();
    return choice.text();
}

}  // namespace

ExperimentChoice tuned_experiment(const TuningRequest& request, const Catalog& catalog,
                                  const PluginSource& plugins, std::vector<NotPredicted>& left_out) {
    const simulation::Machine machine = load_machine(SimulatedChoice(machine_text_of(request.machine)).machine);
    if (request.gpus > machine.devices())
        throw SpecError(
            fmt::format("{} has {} devices; --gpus asks for {}", machine.name, machine.devices(), request.gpus));
    ExperimentChoice tuned = request.experiment;
    const auto set = [&](const std::string& key, const std::string& value) {
        tuned.overrides.push_back(key + "=" + value);
    };
    set("kernel", ordered_json{{"name", "simulated"}, {"machine", machine_text_of(request.machine)}}.dump());
    set("gpus", std::to_string(request.gpus));
    const Experiment asked = load(tuned, catalog, plugins);
    set("name", ordered_json(asked.name + "-tune").dump());
    set("scheme", schemes(request, asked, plugins));
    set("partitioner", partitioners(request, asked, plugins, left_out));
    set("trials", "1");
    set("epochs", "1");
    set("warmup", "1");
    return tuned;
}

std::vector<NotPredicted> not_predicted(const ExperimentChoice& tuned, const RunPlaces& places,
                                        const PluginSource& plugins) {
    const Catalog catalog = Catalog::at(places.data_dir);
    const PreparedExperiment prepared =
        prepare(load(tuned, catalog, plugins), catalog, plugins, Datasets::only_look, {});
    const Plan plan = plan_of(prepared, plugins, nullptr, this_host(), {});
    std::vector<NotPredicted> out;
    for (const PlannedCell& planned : plan.cells) {
        const Cell& cell = prepared.cells[planned.cell].cell;
        if (planned.verdict == Verdict::skipped)
            out.push_back({cell.scheme.label, cell.partitioner.label, planned.reason});
    }
    return out;
}

}  // namespace gnnbench
