#include "run/archive.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "launch/machine.hpp"
#include "run/launchers.hpp"
#include "run/trial_execution.hpp"

namespace gnnbench {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int archive_format = 1;
constexpr const char* manifest_name = "manifest.json";
/// As exact schemes agree with the reference.
constexpr double loss_tolerance = 1e-4;

std::vector<std::string> digests_of(const PreparedExperiment& prepared) {
    std::vector<std::string> digests;
    for (const PreparedCell& cell : prepared.cells) digests.push_back(cell.record.digest);
    return digests;
}

/// {"scheme mg-gcn": "0.3.0", …}
json plugin_versions(const std::vector<Cell>& cells) {
    json versions = json::object();
    for (const Cell& c : cells) {
        versions["scheme " + c.scheme.name] = c.scheme.version;
        versions["partitioner " + c.partitioner.name] = c.partitioner.version;
        versions["kernel " + c.kernel.name] = c.kernel.version;
    }
    return versions;
}

json manifest_of(const PreparedExperiment& prepared, const MeasuredOn& measured) {
    const Experiment& e = prepared.experiment;
    json cells = json::array();
    for (const PreparedCell& c : prepared.cells) {
        json cell = to_json(c.cell, JsonFor::worker);
        cell["dataset"]["store"] = "";  // is looked up where it is replayed
        cells.push_back({{"digest", c.record.digest},
                         {"label", cell_label(c)},
                         {"approximation", c.approximation},
                         {"cell", std::move(cell)}});
    }
    return {{"format", archive_format},
            {"experiment", e.name},
            {"description", e.description},
            {"source", source_of(e)},
            {"trials", e.trials},
            {"scaling", to_text(e.scaling)},
            {"limits",
             {{"trial_timeout_s", e.limits.trial_timeout_s},
              {"verify_timeout_s", e.limits.verify_timeout_s},
              {"memory_per_rank_gib", e.limits.memory_per_rank_gib}}},
            {"machine", measured.fingerprint},
            {"cells", std::move(cells)}};
}

/// What an archive holds, read.
struct Archive {
    json manifest;
    Experiment experiment;
};

Archive read_archive(const fs::path& path) {
    const ArchivedFiles files = archived_files(path);
    const auto manifest = files.find(manifest_name), text = files.find("experiment.yaml");
    try {
        Archive archive;
        archive.manifest = json::parse(manifest == files.end() ? "" : manifest->second);
        const json& m = archive.manifest;
        if (m.at("format") != archive_format)
            throw SpecError(
                fmt::format("{}: expected an archive of format {}; found {}. Replay it with the gnnbench that "
                            "wrote it",
                            path.string(), archive_format, m.at("format").dump()));
        Experiment& e = archive.experiment;
        e.name = m.at("experiment");
        e.description = m.at("description");
        e.file = path;
        e.text = text == files.end() ? "" : text->second;
        e.trials = m.at("trials");
        e.scaling = scaling_axis(m.value("scaling", ""));  // older ones have none
        e.limits = {m.at("limits").at("trial_timeout_s"), m.at("limits").at("verify_timeout_s"),
                    m.at("limits").at("memory_per_rank_gib")};
        for (const json& c : m.at("cells")) e.cells.push_back(cell_from_json(c.at("cell")));
        return archive;
    } catch (const json::exception& error) {
        throw SpecError(fmt::format("{}: its {} is damaged: {}", path.string(), manifest_name, error.what()));
    }
}

/// The plugins of here have versions of their own, which are part of what a cell is.
void take_versions(Experiment& experiment, const PluginSource& plugins) {
    const auto version = [&](PluginKind kind, PluginChoice& choice) {
        if (choice.is_program()) return;
        const auto facts = plugins.find(kind, choice.name);
        if (!facts)
            throw SpecError(
                fmt::format("the archive needs the {} '{}', which is not here; gnnbench plugin list shows "
                            "what is",
                            yaml_word(kind), choice.name));
        choice.version = facts->version;
    };
    for (Cell& cell : experiment.cells) {
        version(PluginKind::strategy, cell.scheme);
        if (!cell.scheme.is_program()) version(PluginKind::partitioner, cell.partitioner);
        version(PluginKind::kernel, cell.kernel);
    }
}

void add_environment(std::vector<Difference>& all, const MeasuredOn& archived, const MeasuredOn& here) {
    const json then = json::parse(archived.provenance), now = json::parse(here.provenance);
    const json machine_then = json::parse(archived.machine), machine_now = json::parse(here.machine);
    const auto text = [](const json& j, const char* key) {
        if (!j.contains(key)) return std::string();
        return j.at(key).is_string() ? j.at(key).get<std::string>() : j.at(key).dump();
    };
    for (const char* key : {"version", "commit", "build_type", "compiler"})
        all.push_back({std::string("gnnbench ") + key, text(then, key), text(now, key)});
    for (const char* key : {"cpu", "cores", "memory_gib", "mpi"})
        all.push_back({std::string("machine ") + key, text(machine_then, key), text(machine_now, key)});
    for (const char* key : {"os", "kernel"}) all.push_back({key, text(then, key), text(now, key)});
    all.push_back({"device", archived.device, here.device});
}

std::string why_they_differ(const CellOutcome& then, const CellOutcome& now, bool judges_loss) {
    if (then.ok == 0 && then.other == 0) return "";  // nothing is archived of it
    if (now.ok == 0)
        return then.ok == 0 && then.status == now.status
                   ? ""
                   : fmt::format("{} here", now.other > 0 ? now.status : "not measured");
    if (then.ok == 0) return fmt::format("archived as {}, ok here", then.status);
    if (then.sent_bytes_per_epoch != now.sent_bytes_per_epoch)
        return fmt::format("{:.0f} bytes an epoch archived, {:.0f} here", then.sent_bytes_per_epoch,
                           now.sent_bytes_per_epoch);
    const double off = std::abs(then.final_loss - now.final_loss);
    if (judges_loss && (then.has_loss != now.has_loss || !(off <= loss_tolerance * std::abs(then.final_loss))))
        return fmt::format("loss {:.6g} archived, {:.6g} here", then.final_loss, now.final_loss);
    return "";
}

}  // namespace

std::size_t export_archive(const PreparedExperiment& prepared, const fs::path& database, const fs::path& archive) {
    const std::vector<std::string> digests = digests_of(prepared);
    const MeasuredOn measured = measured_on(database, digests);
    write_archive(database, digests,
                  {{manifest_name, manifest_of(prepared, measured).dump(1) + '\n'},
                   {"experiment.yaml", prepared.experiment.text}},
                  archive);
    const auto outcomes = outcomes_on(archive, measured.fingerprint);
    return static_cast<std::size_t>(std::ranges::count_if(digests, [&](const std::string& d) {
        const auto found = outcomes.find(d);
        return found != outcomes.end() && found->second.ok > 0;
    }));
}

bool ReplayReport::agrees() const {
    return std::ranges::all_of(datasets, &Difference::same) && std::ranges::all_of(cells, &ReplayedCell::agrees);
}

ReplayReport replay_archive(const ReplayRequest& request, const RunPlaces& places, Progress& progress) {
    Archive archive = read_archive(request.archive);
    const json plugins_then = plugin_versions(archive.experiment.cells);
    const InstalledPlugins plugins;
    take_versions(archive.experiment, plugins);
    if (request.trials > 0) archive.experiment.trials = request.trials;
    archive.experiment.launcher = request.launcher;
    ReplayReport report;
    report.experiment = archive.experiment.name;
    std::string machine;  // that ran it now; else the one that has measured most of it
    if (!request.only_compare) {
        RunRequest run;
        run.experiment.file = request.archive;
        run.experiment.allow_programs = request.allow_programs;
        const RunResult ran = run_resolved(archive.experiment, run, places, progress);
        report.sweep = ran.report;
        machine = ran.machine_fingerprint;
    }
    const Notify notify = [&](const std::string& line) { progress.message(line); };
    const PreparedExperiment prepared =
        prepare(archive.experiment, Catalog::at(places.data_dir), plugins, Datasets::only_look, notify);

    // An older schema is brought up to date in a copy.
    const TemporaryFolder folder("replay");
    const fs::path copy = folder.path() / "archive.sqlite";
    fs::copy_file(request.archive, copy);
    {
        const Database up_to_date(copy);
    }
    const std::vector<std::string> here = digests_of(prepared);
    std::vector<std::string> then;
    for (const json& c : archive.manifest.at("cells")) then.push_back(c.at("digest"));
    const auto measured_here = find_measured_on(places.database, here, machine);
    if (measured_here) {
        add_environment(report.surroundings, measured_on(copy, then), *measured_here);
        machine = measured_here->fingerprint;
    }
    const json plugins_now = plugin_versions(archive.experiment.cells);
    for (const auto& [name, version] : plugins_now.items())
        report.surroundings.push_back({name, plugins_then.value(name, ""), version});

    const auto outcomes_then = outcomes_on(copy, archive.manifest.at("machine"));
    const auto outcomes_here = outcomes_on(places.database, machine);
    const auto outcome = [](const auto& all, const std::string& digest) {
        const auto found = all.find(digest);
        return found == all.end() ? CellOutcome() : found->second;
    };
    std::set<std::string> named;
    for (std::size_t i = 0; i < prepared.cells.size(); ++i) {
        const json& archived = archive.manifest.at("cells").at(i);
        const DatasetChoice& dataset = prepared.cells[i].cell.dataset;
        const std::string digest = archived.at("cell").at("dataset").at("digest");
        if (named.insert(dataset.name + digest).second)
            report.datasets.push_back(
                {dataset.name, digest, dataset.digest.empty() ? "not here" : dataset.digest});
        ReplayedCell cell{.label = archived.at("label"),
                          .reason = {},
                          .archived = outcome(outcomes_then, then[i]),
                          .here = outcome(outcomes_here, here[i]),
                          .judges_loss = prepared.cells[i].approximation.empty()};
        cell.reason = why_they_differ(cell.archived, cell.here, cell.judges_loss);
        report.cells.push_back(std::move(cell));
    }
    return report;
}

}  // namespace gnnbench
