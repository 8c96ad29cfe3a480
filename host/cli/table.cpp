#include <filesystem>
#include <iostream>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "cli/definitions.hpp"
#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "cli/prepare.hpp"
#include "record/query.hpp"
#include "report/paper_table.hpp"
#include "report/table.hpp"

namespace gnnbench {

namespace {

std::string measured_last(const std::filesystem::path& database) {
    const QueryResult found = query(database,
                                    "SELECT e.name FROM trial t JOIN experiment e ON e.id = t.experiment_id "
                                    "ORDER BY t.id DESC LIMIT 1");
    if (found.rows.empty())
        throw SpecError("'" + database.string() + "' holds no trials yet; gnnbench run makes some");
    return std::get<std::string>(found.rows[0][0]);
}

}  // namespace

std::string experiment_name(const std::string& given, const GlobalOptions& options) {
    if (given.empty()) return measured_last(options.database);
    if (!std::filesystem::is_regular_file(given)) return given;
    return load({.file = given, .overrides = {}}, Catalog::at(options.data_dir), InstalledPlugins()).name;
}

namespace {

struct TableChoice {
    std::string what, profile;
    bool list = false;
    std::shared_ptr<OutputFormat> format;
};

int print_table(const TableChoice& choice, const GlobalOptions& options) {
    if (choice.list) {
        for (const std::string& name : definition_names()) std::cout << name << '\n';
        return exit_ok;
    }
    if (const auto file = find_definition(choice.what)) {
        const auto table = load_table(*file, choice.profile, options);
        std::cout << render(paper_table(table->resolved), *choice.format);
        return exit_ok;
    }
    // "mg-gcn/tabel-3", or --profile: the user means a paper's table.
    const bool is_file = std::filesystem::exists(choice.what);
    if (!choice.profile.empty() || (!is_file && choice.what.find('/') != std::string::npos)) {
        throw SpecError("there is no paper's table or figure '" + choice.what + "'" +
                        did_you_mean(choice.what, definition_names()) + " (gnnbench table --list lists all)");
    }
    std::cout << render_comparison(read_comparison(options.database, experiment_name(choice.what, options)),
                                   *choice.format);
    return exit_ok;
}

}  // namespace

void add_table(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("table", "Print an experiment's comparison, or a paper's table");
    auto choice = std::make_shared<TableChoice>();
    command->add_option(
        "what", choice->what,
        "An experiment's name or file (default: the one measured last), or a table's: plexus/table-5-1");
    command->add_option("--profile", choice->profile, "Of a paper's table: small, paper (default: measured last)");
    command->add_flag("--list", choice->list, "List the papers' tables and figures");
    choice->format = add_format_options(*command);
    command->callback(
        [&options, &action, choice] { action = [&options, choice] { return print_table(*choice, options); }; });
}

}  // namespace gnnbench
