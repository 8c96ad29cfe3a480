#include <algorithm>
#include <filesystem>
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/experiment_options.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "core/printable.hpp"
#include "run/definitions.hpp"
#include "run/prepare.hpp"
#include "spec/claims_file.hpp"
#include "spec/findings.hpp"

namespace gnnbench {

namespace {

nlohmann::json to_json(const Finding& finding) {
    return {{"file", finding.place.origin},
            {"line", finding.place.line},
            {"column", finding.place.column},
            {"key", finding.key},
            {"message", finding.message}};
}

/// Checks a paper's table (its keys, and that its published numbers belong to its rows and columns) or an experiment
/// (every key, and its cells). Throws ExperimentError.
nlohmann::json checked(const ExperimentChoice& choice, const PluginSource& plugins, const GlobalOptions& options) {
    if (holds_claims(choice.file)) {
        const ClaimsFile file = load_claims_file(choice.file);
        const auto judged = std::ranges::count_if(file.claims, &PaperClaim::judged);
        return {{"valid", true},
                {"name", file.name},
                {"claims", file.claims.size()},
                {"judged", judged},
                {"findings", nlohmann::json::array()}};
    }
    if (const auto table = find_definition(choice.file.string())) {
        const TableDefinition t = load_table_definition(*table);
        return {{"valid", true},
                {"name", t.name},
                {"rows", t.rows.size()},
                {"columns", t.columns.size()},
                {"published", t.published.size()},
                {"findings", nlohmann::json::array()}};
    }
    const Experiment experiment = load(choice, Catalog::at(options.data_dir), plugins);
    return {{"valid", true},
            {"name", experiment.name},
            {"cells", experiment.cells.size()},
            {"trials", experiment.trials},
            {"findings", nlohmann::json::array()}};
}

std::string sentence(const std::string& file, const nlohmann::json& found) {
    const auto count = [&](const char* key) { return found.at(key).get<std::size_t>(); };
    if (found.contains("cells"))
        return fmt::format("{}: valid, {} cells of {} trials\n", file, count("cells"), count("trials"));
    if (found.contains("claims"))
        return fmt::format("{}: valid, {} claims, {} of them to be judged\n", file, count("claims"),
                           count("judged"));
    return fmt::format("{}: valid, {} rows and {} columns, {} published numbers\n", file, count("rows"),
                       count("columns"), count("published"));
}

/// A file, or all of a folder's.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& given) {
    if (!std::filesystem::is_directory(given)) return {given};
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(given))
        if (entry.is_regular_file() && entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::ranges::sort(files);
    if (files.empty())
        throw SpecError(
            fmt::format("{}: no experiment and no table in this folder; each is a .yaml file", given.string()));
    return files;
}

int validate(const ExperimentChoice& given, bool as_json, const GlobalOptions& options) {
    const InstalledPlugins plugins;
    const std::vector<std::filesystem::path> files = files_of(given.file);
    nlohmann::json all = nlohmann::json::array();
    bool valid = true;
    for (const std::filesystem::path& file : files) {
        ExperimentChoice choice = given;
        choice.file = file;
        try {
            all.push_back(checked(choice, plugins, options));
            if (!as_json) std::cout << sentence(file.string(), all.back());
        } catch (const ExperimentError& error) {
            if (!as_json && files.size() == 1) throw;
            valid = false;
            nlohmann::json findings = nlohmann::json::array();
            for (const Finding& finding : error.findings()) findings.push_back(to_json(finding));
            all.push_back({{"valid", false}, {"findings", findings}});
            if (!as_json) std::cerr << printable(error.what()) << '\n';
        }
        all.back()["file"] = file.string();
    }
    if (as_json) print_json(std::cout, files.size() == 1 ? all.front() : all);
    return valid ? exit_ok : exit_usage;
}

}  // namespace

void add_validate(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand(
        "validate", "Check an experiment, a paper's table or a folder of both, and report all errors");
    auto choice = std::make_shared<ExperimentChoice>();
    auto as_json = std::make_shared<bool>(false);
    add_experiment_options(*command, *choice);
    command->add_flag("--json", *as_json, "As JSON");
    command->callback(
        [&, choice, as_json] { action = [&, choice, as_json] { return validate(*choice, *as_json, options); }; });
}

}  // namespace gnnbench
