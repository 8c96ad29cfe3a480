#include <iostream>

#include "cli/experiment_options.hpp"
#include "cli/formats.hpp"
#include "cli/project.hpp"
#include "report/verify_table.hpp"
#include "run/verification_run.hpp"

namespace gnnbench {

namespace {

int verify(const ExperimentChoice& choice, const std::string& where, OutputFormat format,
           const GlobalOptions& options) {
    Progress progress;
    name_places(options, progress);
    const VerificationResult result =
        verify_experiment(choice, where, {options.database, options.data_dir}, progress);
    std::cout << render_verifications(result.rows, format);
    if (result.interrupted) return exit_interrupted;
    return result.all_well ? exit_ok : exit_cell_failed;
}

}  // namespace

void add_verify(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand(
        "verify", "Compare every cell with the serial float64 reference, and its volume with the stated one");
    auto choice = std::make_shared<ExperimentChoice>();
    add_experiment_options(*command, *choice);
    const auto where = std::make_shared<std::string>();
    add_where_option(*command, *where);
    add_allow_programs(*command, *choice);
    const auto format = add_format_options(*command);
    command->callback([&options, &action, choice, where, format] {
        action = [&options, choice, where, format] { return verify(*choice, *where, *format, options); };
    });
}

}  // namespace gnnbench
