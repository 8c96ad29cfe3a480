#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "cli/drawing.hpp"
#include "cli/options.hpp"
#include "cli/written.hpp"
#include "run/definitions.hpp"

namespace gnnbench {

namespace {

struct FigureChoice {
    std::string what, profile, format;
    std::filesystem::path output;
};

int draw(const FigureChoice& choice, const GlobalOptions& options) {
    const auto file = find_definition(choice.what);
    if (!file) {
        throw SpecError("there is no figure '" + choice.what + "'" +
                        did_you_mean(choice.what, definition_names()) + " (gnnbench table --list lists all)");
    }
    const auto table = load_table(*file, choice.profile, options.database);
    const bool png = choice.format.empty() ? choice.output.extension() == ".png" : choice.format == "png";
    write_output(choice.output,
                 drawn_figure(table->resolved, options.database, png ? FigureFormat::png : FigureFormat::svg));
    return exit_ok;
}

}  // namespace

void add_figure(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("figure", "Draw a paper's figure, ours beside the published numbers");
    command->alias("plot");
    auto choice = std::make_shared<FigureChoice>();
    command->add_option("what", choice->what, "A figure's name, such as plexus/figure-7-1, or its file")
        ->required();
    command->add_option("--profile", choice->profile, "small or paper (default: measured last)");
    command->add_option("--format", choice->format, "svg or png (default: by --output, else svg)")
        ->check(CLI::IsMember({"svg", "png"}));
    command->add_option("--output", choice->output, "Write it there (default: stdout)")->type_name("FILE");
    command->callback(
        [&options, &action, choice] { action = [&options, choice] { return draw(*choice, options); }; });
}

}  // namespace gnnbench
