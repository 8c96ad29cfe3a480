// gnnbench figure: a paper's figure, or how an experiment's schemes scale.
#include <algorithm>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "cli/drawing.hpp"
#include "cli/endings.hpp"
#include "cli/experiment_options.hpp"
#include "cli/options.hpp"
#include "cli/ranges.hpp"
#include "cli/written.hpp"
#include "record/origin.hpp"
#include "run/definitions.hpp"

namespace gnnbench {

namespace {

constexpr Ending figure_endings[] = {{".svg", "svg"}, {".png", "png"}, {".pdf", "pdf"}};

struct FigureChoice {
    std::string what, profile, format, where;
    std::filesystem::path output;
};

FigureFormat figure_format(const FigureChoice& choice) {
    const std::string name = format_for(choice.output, choice.format, figure_endings, "svg");
    return name == "png" ? FigureFormat::png : name == "pdf" ? FigureFormat::pdf : FigureFormat::svg;
}

/// The drawing of a definition or else of a measured experiment.
std::string drawing_of(const FigureChoice& choice, FigureFormat format, const GlobalOptions& options) {
    if (const auto file = find_definition(choice.what)) {
        const auto table = load_table(*file, choice.profile, options.database, choice.where);
        require_cells(*table, choice.where);
        return drawn_figure(table->resolved, options.database, format);
    }
    const std::vector<std::string> recorded = recorded_experiments(options.database);
    const bool is_file = std::filesystem::is_regular_file(choice.what);
    if (!is_file && !choice.what.empty() && std::ranges::find(recorded, choice.what) == recorded.end()) {
        std::vector<std::string> known = recorded;
        for (const std::string& name : definition_names()) known.push_back(name);
        throw SpecError("there is no measured experiment and no paper's figure '" + choice.what + "'" +
                        did_you_mean(choice.what, known) +
                        " (gnnbench query --named experiments and gnnbench table --list list them)");
    }
    if (!choice.profile.empty())
        throw SpecError("--profile is for a paper's figure; an experiment's name says its profile");
    return drawn_scaling(
        read_comparison(options.database, experiment_name(choice.what, options), "", choice.where), format);
}

int draw(const FigureChoice& choice, const GlobalOptions& options) {
    const FigureFormat format = figure_format(choice);  // refused before anything is read
    write_output(choice.output, drawing_of(choice, format, options));
    return exit_ok;
}

}  // namespace

void add_figure(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command =
        app.add_subcommand("figure", "Draw how an experiment's schemes scale, or a paper's figure beside ours");
    command->alias("plot");
    auto choice = std::make_shared<FigureChoice>();
    command
        ->add_option(
            "what", choice->what,
            "An experiment's name or file (default: the one measured last), whose time per epoch is drawn "
            "over GPUs; or a figure's name, such as plexus/figure-7-1, or its file")
        ->type_name("WHAT");
    command->add_option("--profile", choice->profile, "Of a paper's figure: small, paper (default: measured last)")
        ->type_name("PROFILE");
    add_where_option(*command, choice->where);
    command->add_option("--format", choice->format, "Default: by --output, else svg")
        ->check(one_of({"svg", "png", "pdf"}));
    command->add_option("-o,--output", choice->output, "Write it there: .svg, .png or .pdf (default: stdout)")
        ->type_name("FILE");
    command->callback(
        [&options, &action, choice] { action = [&options, choice] { return draw(*choice, options); }; });
}

}  // namespace gnnbench
