#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/definitions.hpp"
#include "launch/gnuplot.hpp"
#include "plugin/spelling.hpp"
#include "report/figure.hpp"

namespace gnnbench {

namespace {

struct FigureChoice {
    std::string what, profile, format;
    std::filesystem::path output;
};

/// The traced epoch of each row that has one, with the paper's numbers for it.
std::vector<TimelinePanel> panels_of(const ResolvedTable& r, const std::filesystem::path& database) {
    std::vector<TimelinePanel> panels;
    for (std::size_t i = 0; i < r.cells.size(); ++i) {
        std::string title = r.definition->rows[i].label, trial;
        for (const ResolvedCell& place : r.cells[i]) {
            if (place.given) title += fmt::format("; the paper's {} {}", place.given->text, place.given->unit);
            for (const ComparisonCell* cell : place.cells)
                if (trial.empty()) trial = traced_among(database, cell->ok_trials);
        }
        if (!trial.empty()) panels.push_back({title, read_timeline(database, trial, std::nullopt)});
    }
    return panels;
}

int draw(const FigureChoice& choice, const GlobalOptions& options) {
    const auto file = find_definition(choice.what);
    if (!file) {
        const std::string meant = nearest(choice.what, definition_names());
        throw SpecError("there is no figure '" + choice.what + "'" +
                        (meant.empty() ? "" : "; did you mean '" + meant + "'?") +
                        " (gnnbench table --list lists all)");
    }
    const auto table = load_table(*file, choice.profile, options);
    const bool png = choice.format.empty() ? choice.output.extension() == ".png" : choice.format == "png";
    std::vector<TimelinePanel> panels;
    if (table->definition.plot && table->definition.plot->kind == PlotKind::timeline)
        panels = panels_of(table->resolved, options.database);
    const std::string drawn =
        run_gnuplot(figure_script(table->resolved, png ? FigureFormat::png : FigureFormat::svg, panels));
    if (choice.output.empty()) {
        std::cout << drawn;
        return exit_ok;
    }
    std::ofstream out(choice.output, std::ios::binary | std::ios::trunc);
    out << drawn;
    out.close();
    if (!out)
        throw EnvironmentError("cannot write '" + choice.output.string() +
                               "'; is the folder there, and the disk full?");
    return exit_ok;
}

}  // namespace

void add_figure(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("figure", "Draw a paper's figure, ours beside the published numbers");
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
