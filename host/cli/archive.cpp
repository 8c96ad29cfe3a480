// gnnbench export EXPERIMENT --archive FILE, and gnnbench replay FILE.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/archive.hpp"
#include "cli/experiment_options.hpp"
#include "cli/folder_experiments.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/ranges.hpp"
#include "core/plural.hpp"
#include "record/statistics.hpp"
#include "run/archive.hpp"
#include "spec/launcher_file.hpp"

namespace gnnbench {

namespace fs = std::filesystem;
using nlohmann::json;

int export_archive(const ExperimentChoice& choice, const fs::path& archive, const GlobalOptions& options) {
    if (!fs::exists(options.database))
        throw SpecError(
            fmt::format("there is no database {}; `gnnbench run` the experiment first, or name another with "
                        "--database",
                        options.database.string()));
    Progress progress;
    const Catalog catalog = Catalog::at(options.data_dir);
    const InstalledPlugins plugins;
    const PreparedExperiment prepared =
        prepare(load(choice, catalog, plugins), catalog, plugins, Datasets::only_look, [](const std::string&) {});
    Database::for_reading(options.database);  // migrates its schema
    const std::size_t measured = export_archive(prepared, options.database, archive);
    progress.message(fmt::format("{}: {} of {} measured; gnnbench replay runs them again elsewhere",
                                 archive.string(), measured, plural(std::ssize(prepared.cells), "cell")));
    return exit_ok;
}

namespace {

json to_json(const Difference& d) {
    return {{"what", d.what}, {"archived", d.archived}, {"here", d.here}, {"same", d.same()}};
}

json to_json(const CellOutcome& o) {
    json j{{"ok", o.ok}, {"others", o.other}};
    if (o.other > 0) j["status"] = o.status;
    if (o.ok == 0) return j;
    j["epoch_s"] = o.epoch_s;
    j["sent_bytes_per_epoch"] = o.sent_bytes_per_epoch;
    if (o.has_loss) j["final_loss"] = o.final_loss;
    return j;
}

json to_json(const ReplayReport& r) {
    json surroundings = json::array(), datasets = json::array(), cells = json::array();
    for (const Difference& d : r.surroundings) surroundings.push_back(to_json(d));
    for (const Difference& d : r.datasets) datasets.push_back(to_json(d));
    for (const ReplayedCell& c : r.cells)
        cells.push_back({{"cell", c.label},
                         {"agrees", c.agrees()},
                         {"reason", c.reason},
                         {"archived", to_json(c.archived)},
                         {"here", to_json(c.here)}});
    return {{"experiment", r.experiment},
            {"agrees", r.agrees()},
            {"surroundings", surroundings},
            {"datasets", datasets},
            {"cells", cells}};
}

std::string in_seconds(const CellOutcome& o) {
    return o.ok > 0 ? fmt::format("{:.4g} s", o.epoch_s) : o.other > 0 ? o.status : "not measured";
}

std::string as_text(const ReplayReport& r) {
    TextColumns differing({"differs", "archived", "here"});
    for (const auto* list : {&r.datasets, &r.surroundings})
        for (const Difference& d : *list)
            if (!d.same()) differing.add({list == &r.datasets ? "dataset " + d.what : d.what, d.archived, d.here});
    TextColumns cells({"cell", "epoch, archived", "here", "ratio", "bytes and loss"});
    std::vector<double> ratios;
    for (const ReplayedCell& c : r.cells) {
        const bool both = c.archived.ok > 0 && c.here.ok > 0 && c.archived.epoch_s > 0;
        if (both) ratios.push_back(c.here.epoch_s / c.archived.epoch_s);
        cells.add({c.label, in_seconds(c.archived), in_seconds(c.here),
                   both ? fmt::format("{:.2f}", ratios.back()) : "",
                   !c.agrees()     ? c.reason
                   : !both         ? ""
                   : c.judges_loss ? "agree"
                                   : "bytes agree (approximate)"});
    }
    std::string text = differing.empty() ? "nothing differs in data, versions, machine and environment\n\n"
                                         : differing.text() + "\n";
    text += cells.text() + "\n";
    const auto off = std::ranges::count_if(r.cells, [](const ReplayedCell& c) { return !c.agrees(); });
    text += r.agrees() ? "data, bytes and losses agree"
            : off > 0  ? fmt::format("{} of {} cells differ", off, r.cells.size())
                       : "the data differ";
    if (!ratios.empty())
        text += fmt::format("; an epoch takes {:.2f} times as long (median over cells)", median(ratios));
    return text + '\n';
}

int replay(const ReplayRequest& given, bool as_json, const GlobalOptions& options) {
    Progress progress;
    ReplayRequest request = given;
    request.launcher.file = load_launcher(request.launcher.name);
    if (request.launcher.submits())
        throw SpecError(
            fmt::format("replay waits for each trial: expected a launcher without jobs, such as local or srun; "
                        "found {}",
                        request.launcher.name));
    // Results of here stay apart from a project's own unless it is named.
    RunPlaces places{options.database, options.data_dir};
    if (!options.database_given) places.database = request.archive.stem().string() + "-replayed.sqlite";
    if (request.only_compare && !fs::exists(places.database))
        throw SpecError(
            fmt::format("--only-compare: there is no database {}; replay without it, or name one with "
                        "--database",
                        places.database.string()));
    const ReplayReport report = replay_archive(request, places, progress);
    if (as_json)
        print_json(std::cout, to_json(report));
    else
        std::cout << as_text(report);
    if (report.sweep.interrupted) return exit_interrupted;
    if (!report.sweep.all_well()) return exit_cell_failed;
    return report.agrees() ? exit_ok : exit_regression;
}

}  // namespace

void add_replay(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("replay", "Run an archive again, and say what differs");
    auto request = std::make_shared<ReplayRequest>();
    auto as_json = std::make_shared<bool>(false);
    command->add_option("archive", request->archive, "As gnnbench export wrote it")->required()->type_name("FILE");
    command->add_option("--trials", request->trials, "Trials of each cell (default: as archived)")
        ->check(at_least(1));
    command->add_flag("--only-compare", request->only_compare,
                      "Run nothing; compare with what --database, or an earlier replay, has");
    command->add_flag("--allow-programs", request->allow_programs,
                      "Start the programs that it names without asking");
    command->add_option("--launcher", request->launcher.name, "What starts ranks (default: local)")
        ->type_name("LAUNCHER");
    command->add_flag("--json", *as_json, "As JSON");
    command->callback(
        [=, &options, &action] { action = [=, &options] { return replay(*request, *as_json, options); }; });
}

}  // namespace gnnbench
