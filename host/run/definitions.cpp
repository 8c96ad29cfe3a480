#include "run/definitions.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/printable.hpp"
#include "plugin/places.hpp"
#include "spec/claims_file.hpp"
#include "spec/experiment_names.hpp"
#include "spec/table_definition.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

/// What a file holds, if there is one.
std::string text_of(const fs::path& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return "";
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool holds_definition(const fs::path& file) { return is_table_definition(text_of(file)); }

bool holds_experiment(const fs::path& file) {
    const std::string text = text_of(file);
    return !is_table_definition(text) && !is_claims_file(text);
}

/// The one whose trial is newest, else the first.
std::string default_profile(const TableDefinition& t, const fs::path& database) {
    std::map<std::string, std::string> profile_of;
    std::vector<std::string> all;
    for (const char* profile : paper_profiles)
        for (const std::string& name : under_profile(t.experiments, profile)) {
            profile_of[name] = profile;
            all.push_back(name);
        }
    const std::string newest = newest_of(database, all);
    return newest.empty() ? paper_profiles[0] : profile_of[newest];
}

/// What the experiments' simulated profile has on the machines that a definition names.
MeasuredCells simulated_cells(const TableDefinition& t, const fs::path& database, const std::string& where) {
    MeasuredCells all = read_measured(database, under_profile(t.experiments, simulated_profile), where);
    std::erase_if(all.cells, [&](const ComparisonCell& c) {
        return std::ranges::find(t.simulated_on, c.simulated) == t.simulated_on.end();
    });
    return all;
}

std::vector<fs::path> experiments_in(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
         it.increment(error))
        if (it->path().extension() == ".yaml" && it->is_regular_file(error) && holds_experiment(it->path()))
            files.push_back(it->path());
    std::ranges::sort(files);
    return files;
}

/// The definition's experiments as far as files beside it have them under this profile.
MissingRuns runs_of(const TableDefinition& t, const std::string& profile) {
    MissingRuns runs;
    const std::vector<std::string> wanted = under_profile(t.experiments, profile);
    for (const fs::path& file : experiments_in(t.file.parent_path().empty() ? "." : t.file.parent_path())) {
        const std::vector<std::string> names = experiment_names(file);
        const auto found = std::ranges::find_first_of(names, wanted);
        if (found == names.end()) continue;
        runs.experiments.push_back(*found);
        runs.commands.push_back(
            fmt::format("gnnbench run {}{}", file.string(), profile.empty() ? "" : " --profile " + profile));
    }
    return runs;
}

}  // namespace

std::vector<fs::path> experiment_folders() { return {"experiments", share_folder() / "experiments"}; }

std::optional<fs::path> find_definition(const std::string& given) {
    if (given.empty()) return std::nullopt;
    if (holds_definition(given)) return given;
    for (const fs::path& folder : experiment_folders())
        if (fs::path file = folder / (given + ".yaml"); holds_definition(file)) return file;
    return std::nullopt;
}

bool holds_claims(const fs::path& file) { return is_claims_file(text_of(file)); }

std::vector<std::string> definition_names() {
    std::set<std::string> names;
    for (const fs::path& folder : experiment_folders()) {
        std::error_code error;
        for (auto it =
                 fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink, error);
             !error && it != fs::recursive_directory_iterator(); it.increment(error))
            if (it->path().extension() == ".yaml" && holds_definition(it->path()))
                names.insert(it->path().lexically_relative(folder).replace_extension().string());
    }
    return {names.begin(), names.end()};
}

std::vector<fs::path> experiments_at(const fs::path& given) {
    std::error_code ignored;
    if (!fs::is_directory(given, ignored)) return {given};
    std::vector<fs::path> files = experiments_in(given);
    if (files.empty())
        throw SpecError(
            fmt::format("{}: no experiment in this folder; an experiment is a .yaml file that is no "
                        "table's or figure's definition and no list of claims",
                        given.string()));
    return files;
}

std::string find_experiment(const std::string& given) {
    std::error_code ignored;
    if (given.empty() || fs::exists(given, ignored)) return given;
    for (const fs::path& folder : experiment_folders()) {
        if (fs::path file = folder / (given + ".yaml"); fs::is_regular_file(file, ignored)) return file.string();
        if (fs::is_directory(folder / given, ignored)) return (folder / given).string();
    }
    return given;
}

std::optional<fs::path> find_experiment_folder(const std::string& given) {
    std::error_code ignored;
    if (fs::is_directory(given, ignored)) return given;
    for (const fs::path& folder : experiment_folders())
        if (!given.empty() && fs::is_directory(folder / given, ignored)) return folder / given;
    return std::nullopt;
}

std::unique_ptr<LoadedTable> load_table(const fs::path& file, const std::string& profile, const fs::path& database,
                                        const std::string& where) {
    if (!profile.empty()) return load_table_as(file, profile, database, where);
    return load_table_as(file, default_profile(load_table_definition(file), database), database, where);
}

std::unique_ptr<LoadedTable> load_table_as(const fs::path& file, const std::string& profile,
                                           const fs::path& database, const std::string& where) {
    auto table = std::make_unique<LoadedTable>();
    table->definition = load_table_definition(file);
    table->measured = read_measured(database, under_profile(table->definition.experiments, profile), where);
    if (!table->definition.simulated_on.empty()) {
        table->simulated = simulated_cells(table->definition, database, where);
        // Not measured ones, under any profile.
        std::erase_if(table->measured.cells, [](const ComparisonCell& c) { return !c.simulated.empty(); });
    }
    std::optional<MetricReader> reader;
    if (!table->measured.cells.empty() || !table->simulated.cells.empty()) reader.emplace(database);
    table->resolved = resolve(
        table->definition, table->measured, profile,
        [&](std::int64_t trial, const Measure& m) {
            return m.until ? reader->training_s_until(trial, *m.until) : reader->read(trial, m.metric);
        },
        &table->simulated);
    if (table->measured.cells.empty() && !table->definition.experiments.empty())
        table->resolved.missing_runs = runs_of(table->definition, profile);
    return table;
}

void require_cells(const LoadedTable& table, const std::string& where) {
    if (!where.empty() && !table.has_cells())
        throw SpecError(
            fmt::format("no measured cell of {} fits \"{}\"", table.definition.name, printable(where)));
}

}  // namespace gnnbench
