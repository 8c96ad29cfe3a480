#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/experiment_options.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/say.hpp"
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

/// Files, and all below folders, each once.
std::vector<std::filesystem::path> files_of(const std::vector<std::filesystem::path>& given) {
    std::vector<std::filesystem::path> files;
    for (const std::filesystem::path& path : given) {
        const auto folder = find_experiment_folder(path.string());
        if (!folder) {
            files.push_back(path);
            continue;
        }
        const auto first = files.size();
        for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder))
            if (entry.is_regular_file() && entry.path().extension() == ".yaml") files.push_back(entry.path());
        if (files.size() == first)
            throw SpecError(fmt::format(
                "{}: no experiment and no table in or below this folder; each is a .yaml file", path.string()));
        std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
    }
    std::set<std::filesystem::path> seen;
    std::erase_if(files, [&](const auto& file) { return !seen.insert(file.lexically_normal()).second; });
    return files;
}

/// What is wrong with a file; a message without a place is a finding of the whole file.
nlohmann::json findings_of(const Error& error, const std::filesystem::path& file) {
    nlohmann::json findings = nlohmann::json::array();
    if (const auto* found = dynamic_cast<const ExperimentError*>(&error))
        for (const Finding& finding : found->findings()) findings.push_back(to_json(finding));
    else
        findings.push_back(to_json(Finding{{file.string()}, "", error.what()}));
    return findings;
}

int validate(const std::vector<std::filesystem::path>& given, const ExperimentChoice& as, bool as_json,
             const GlobalOptions& options) {
    const InstalledPlugins plugins;
    const std::vector<std::filesystem::path> files = files_of(given);
    nlohmann::json all = nlohmann::json::array();
    std::size_t wrong = 0;
    for (const std::filesystem::path& file : files) {
        ExperimentChoice choice = as;
        choice.file = file;
        try {
            all.push_back(checked(choice, plugins, options));
            if (!as_json) std::cout << sentence(file.string(), all.back()) << std::flush;
        } catch (const EnvironmentError&) {
            throw;
        } catch (const LogicError&) {
            throw;
        } catch (const Error& error) {
            if (!as_json && files.size() == 1) throw;
            ++wrong;
            all.push_back({{"valid", false}, {"findings", findings_of(error, file)}});
            const bool names_the_file = dynamic_cast<const ExperimentError*>(&error) != nullptr;
            if (!as_json)
                std::cerr << (names_the_file ? "" : printable(file.string()) + ": ") << printable(error.what())
                          << '\n';
        }
        all.back()["file"] = file.string();
    }
    if (as_json) print_json(std::cout, files.size() == 1 ? all.front() : all);
    if (wrong > 0 && files.size() > 1) say(fmt::format("{} of {} files are not valid", wrong, files.size()));
    return wrong == 0 ? exit_ok : exit_usage;
}

}  // namespace

void add_validate(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand(
        "validate", "Check experiments, papers' tables and folders of both, and report all errors");
    auto files = std::make_shared<std::vector<std::filesystem::path>>();
    auto choice = std::make_shared<ExperimentChoice>();
    auto as_json = std::make_shared<bool>(false);
    command
        ->add_option("experiment", *files,
                     "Experiments and tables: YAML files, and folders of them with what is below")
        ->required()
        ->type_name("EXPERIMENT");
    add_override_options(*command, *choice);
    command->add_flag("--json", *as_json, "As JSON: of one file an object, of several a list");
    command->callback([&, files, choice, as_json] {
        action = [&, files, choice, as_json] { return validate(*files, *choice, *as_json, options); };
    });
}

}  // namespace gnnbench
