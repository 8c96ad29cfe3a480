#include <filesystem>
#include <iostream>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "cli/endings.hpp"
#include "cli/experiment_options.hpp"
#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "cli/written.hpp"
#include "report/paper_table.hpp"
#include "report/table.hpp"
#include "run/definitions.hpp"
#include "run/prepare.hpp"

namespace gnnbench {

namespace {

constexpr Ending table_endings[] = {{".txt", "text"},  {".md", "markdown"}, {".tex", "latex"},
                                    {".html", "html"}, {".csv", "csv"},     {".json", "json"}};

struct TableChoice {
    std::string what, profile, where;
    bool list = false;
    std::shared_ptr<OutputFormat> format;
    std::filesystem::path output;
};

/// A file's ending decides; --format, where it is given too, has to agree.
OutputFormat table_format(const TableChoice& choice) {
    if (choice.output.empty()) return *choice.format;
    const OutputFormat named = output_format(format_for(choice.output, "", table_endings, "text"));
    if (*choice.format != OutputFormat::text && *choice.format != named)
        throw SpecError("--output " + choice.output.string() +
                        ": its ending stands for another format than the one "
                        "that was asked for; give one of them");
    return named;
}

int print_table(const TableChoice& choice, const GlobalOptions& options) {
    if (choice.list) {
        for (const std::string& name : definition_names()) std::cout << name << '\n';
        return exit_ok;
    }
    const OutputFormat format = table_format(choice);
    if (const auto file = find_definition(choice.what)) {
        const auto table = load_table(*file, choice.profile, options.database, choice.where);
        require_cells(*table, choice.where);
        write_output(choice.output, render(paper_table(table->resolved), format));
        return exit_ok;
    }
    // "mg-gcn/tabel-3", or --profile: the user means a paper's table.
    const bool is_file = std::filesystem::exists(choice.what);
    if (!choice.profile.empty() || (!is_file && choice.what.find('/') != std::string::npos)) {
        throw SpecError("there is no paper's table or figure '" + choice.what + "'" +
                        did_you_mean(choice.what, definition_names()) + " (gnnbench table --list lists all)");
    }
    write_output(
        choice.output,
        render_comparison(
            read_comparison(options.database, experiment_name(choice.what, options), "", choice.where), format));
    return exit_ok;
}

}  // namespace

void add_table(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("table", "Print an experiment's comparison, or a paper's table");
    auto choice = std::make_shared<TableChoice>();
    command
        ->add_option(
            "what", choice->what,
            "An experiment's name or file (default: the one measured last), or a table's: plexus/table-5-1")
        ->type_name("WHAT");
    command->add_option("--profile", choice->profile, "Of a paper's table: small, paper (default: measured last)")
        ->type_name("PROFILE");
    add_where_option(*command, choice->where);
    command->add_flag("--list", choice->list, "List the papers' tables and figures");
    choice->format = add_format_options(*command);
    command
        ->add_option("-o,--output", choice->output,
                     "Write it there: .txt, .md, .tex, .html, .csv or .json (default: stdout)")
        ->type_name("FILE");
    command->callback(
        [&options, &action, choice] { action = [&options, choice] { return print_table(*choice, options); }; });
}

}  // namespace gnnbench
