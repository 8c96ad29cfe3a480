#include "cli/definitions.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>

#include "plugin/places.hpp"
#include "spec/table_definition.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

bool holds_definition(const fs::path& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return false;
    std::ifstream in(file, std::ios::binary);
    return is_table_definition({std::istreambuf_iterator<char>(in), {}});
}

std::vector<fs::path> experiment_folders() { return {"experiments", share_folder() / "experiments"}; }

/// The experiments of each profile that was ever run, and of all; the newest of all decides.
std::string default_profile(const TableDefinition& t, const fs::path& database) {
    if (t.profiles.empty()) return "";
    std::vector<std::string> all;
    for (const auto& [name, experiments] : t.profiles) all.insert(all.end(), experiments.begin(), experiments.end());
    const std::string newest = newest_of(database, all);
    for (const auto& [name, experiments] : t.profiles)
        if (!newest.empty() && std::find(experiments.begin(), experiments.end(), newest) != experiments.end()) return name;
    return t.profiles.front().first;
}

std::vector<std::string> experiments_of(const TableDefinition& t, const std::string& profile) {
    if (profile.empty()) return {};
    std::vector<std::string> names;
    for (const auto& [name, experiments] : t.profiles) {
        if (name == profile) return experiments;
        names.push_back(name);
    }
    throw SpecError(fmt::format("{} has no profile '{}'; it has {}", t.name, profile,
                                names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

std::optional<fs::path> find_definition(const std::string& given) {
    if (given.empty()) return std::nullopt;
    if (holds_definition(given)) return given;
    for (const fs::path& folder : experiment_folders())
        if (const fs::path file = folder / (given + ".yaml"); holds_definition(file)) return file;
    return std::nullopt;
}

std::vector<std::string> definition_names() {
    std::set<std::string> names;
    for (const fs::path& folder : experiment_folders()) {
        std::error_code error;
        for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink, error);
             !error && it != fs::recursive_directory_iterator(); it.increment(error))
            if (it->path().extension() == ".yaml" && holds_definition(it->path()))
                names.insert(it->path().lexically_relative(folder).replace_extension().string());
    }
    return {names.begin(), names.end()};
}

std::unique_ptr<LoadedTable> load_table(const fs::path& file, const std::string& profile, const GlobalOptions& options) {
    auto table = std::make_unique<LoadedTable>();
    table->definition = load_table_definition(file);
    const std::string chosen = profile.empty() ? default_profile(table->definition, options.database) : profile;
    table->measured = read_measured(options.database, experiments_of(table->definition, chosen));
    std::optional<MetricReader> reader;
    if (!table->measured.cells.empty()) reader.emplace(options.database);
    table->resolved = resolve(table->definition, table->measured, chosen, [&](std::int64_t trial, const std::string& metric) {
        return reader->read(trial, metric);
    });
    return table;
}

}  // namespace gnnbench
