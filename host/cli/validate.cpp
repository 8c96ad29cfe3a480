#include <iostream>

#include <fmt/format.h>

#include "cli/experiment_options.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "run/definitions.hpp"
#include "run/prepare.hpp"
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

/// Checks a paper's table: its keys, and that its published numbers belong to its rows and columns.
void validate_table(const std::filesystem::path& file, bool as_json) {
    const TableDefinition t = load_table_definition(file);
    if (as_json)
        print_json(std::cout, {{"valid", true},
                               {"name", t.name},
                               {"rows", t.rows.size()},
                               {"columns", t.columns.size()},
                               {"published", t.published.size()},
                               {"findings", nlohmann::json::array()}});
    else
        std::cout << fmt::format("{}: valid, {} rows and {} columns, {} published numbers\n", file.string(),
                                 t.rows.size(), t.columns.size(), t.published.size());
}

int validate(const ExperimentChoice& choice, bool as_json, const GlobalOptions& options) {
    const InstalledPlugins plugins;
    try {
        if (const auto table = find_definition(choice.file.string())) {
            validate_table(*table, as_json);
            return exit_ok;
        }
        const Experiment experiment = load(choice, Catalog::at(options.data_dir), plugins);
        if (as_json)
            print_json(std::cout, {{"valid", true},
                                   {"name", experiment.name},
                                   {"cells", experiment.cells.size()},
                                   {"trials", experiment.trials},
                                   {"findings", nlohmann::json::array()}});
        else
            std::cout << fmt::format("{}: valid, {} cells of {} trials\n", choice.file.string(),
                                     experiment.cells.size(), experiment.trials);
        return exit_ok;
    } catch (const ExperimentError& error) {
        if (!as_json) throw;
        nlohmann::json findings = nlohmann::json::array();
        for (const Finding& finding : error.findings()) findings.push_back(to_json(finding));
        print_json(std::cout, {{"valid", false}, {"findings", findings}});
        return exit_usage;
    }
}

}  // namespace

void add_validate(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command =
        app.add_subcommand("validate", "Check an experiment or a paper's table, and report all errors");
    auto choice = std::make_shared<ExperimentChoice>();
    auto as_json = std::make_shared<bool>(false);
    add_experiment_options(*command, *choice);
    command->add_flag("--json", *as_json, "As JSON");
    command->callback(
        [&, choice, as_json] { action = [&, choice, as_json] { return validate(*choice, *as_json, options); }; });
}

}  // namespace gnnbench
