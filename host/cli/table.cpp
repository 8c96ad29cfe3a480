#include <filesystem>
#include <iostream>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "cli/experiment_options.hpp"
#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "report/paper_table.hpp"
#include "report/table.hpp"
#include "run/definitions.hpp"
#include "run/prepare.hpp"

namespace gnnbench {

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
        const auto table = load_table(*file, choice.profile, options.database);
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
