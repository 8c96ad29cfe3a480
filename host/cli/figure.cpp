// gnnbench figure: a paper's figure, or how an experiment's schemes scale.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include "cli/drawing.hpp"
#include "cli/endings.hpp"
#include "cli/experiment_options.hpp"
#include "cli/options.hpp"
#include "cli/ranges.hpp"
#include "cli/written.hpp"
#include "record/origin.hpp"
#include "report/paper_table.hpp"
#include "report/table.hpp"
#include "run/definitions.hpp"

namespace gnnbench {

namespace {

constexpr Ending figure_endings[] = {{".svg", "svg"}, {".png", "png"}, {".pdf", "pdf"}};

struct FigureChoice {
    std::string what, profile, format, where, width;
    std::filesystem::path output, data, script;
    FigureLook look;
    bool no_footer = false, no_title = false, efficiency = false, volume = false;
};

/// "88mm", "3.5in", "8.8cm" in millimetres.
double width_in_mm(const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit(end, text.data() + text.size());
    const double mm = unit == "mm" ? 1 : unit == "cm" ? 10 : unit == "in" ? 25.4 : 0;
    number *= mm;
    if (error != std::errc() || mm == 0 || number < 30 || number > 1000)
        throw SpecError(
            fmt::format("--width: expected 30 to 1000 mm, such as 88mm, 8.8cm or 3.5in; found '{}'", text));
    return number;
}

FigureLook look_of(const FigureChoice& choice) {
    FigureLook look = choice.look;
    const std::string name = format_for(choice.output, choice.format, figure_endings, "svg");
    look.format = name == "png" ? FigureFormat::png : name == "pdf" ? FigureFormat::pdf : FigureFormat::svg;
    look.heading = choice.no_title    ? FigureHeading::left_out
                   : choice.no_footer ? FigureHeading::title
                                      : FigureHeading::shown;
    if (!choice.width.empty()) look.width_mm = width_in_mm(choice.width);
    const bool plain = std::ranges::all_of(
        look.font, [](unsigned char c) { return std::isalnum(c) != 0 || c == ' ' || c == '-' || c >= 0x80; });
    if (!plain) throw SpecError(fmt::format("--font: expected the name of a font; found '{}'", look.font));
    return look;
}

/// A figure in the forms that it is asked for.
struct FigureForms {
    std::string script, data;
    std::function<std::string()> drawing;
};

/// Of a definition or else of a measured experiment.
FigureForms forms_of(const FigureChoice& choice, const FigureLook& look, const GlobalOptions& options) {
    if (const auto file = find_definition(choice.what)) {
        if (choice.efficiency || choice.volume)
            throw SpecError(
                "--efficiency and --volume are for an experiment; a paper's figure says what it shows");
        const std::shared_ptr<LoadedTable> table =
            load_table(*file, choice.profile, options.database, choice.where);
        require_cells(*table, choice.where);
        return {script_of(table->resolved, options.database, look), table_csv(paper_table(table->resolved)),
                [table, look, &options] { return drawn_figure(table->resolved, options.database, look); }};
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
    const ComparisonData data =
        read_comparison(options.database, experiment_name(choice.what, options), "", choice.where);
    const ScalingQuantity quantity = choice.efficiency ? ScalingQuantity::efficiency
                                     : choice.volume   ? ScalingQuantity::volume
                                                       : ScalingQuantity::time;
    return {scaling_script(data, look, quantity), render_comparison(data, OutputFormat::csv),
            [data, look, quantity] { return drawn_scaling(data, look, quantity); }};
}

/// With --script or --data alone nothing is drawn, and gnuplot is not needed.
int draw(const FigureChoice& choice, const GlobalOptions& options) {
    const FigureLook look = look_of(choice);  // refused before anything is read
    const FigureForms forms = forms_of(choice, look, options);
    if (!choice.script.empty()) write_output(choice.script, forms.script);
    if (!choice.data.empty()) write_output(choice.data, forms.data);
    if (!choice.output.empty() || (choice.script.empty() && choice.data.empty()))
        write_output(choice.output, forms.drawing());
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
    command
        ->add_option("--width", choice->width,
                     "As wide as on the page: 88mm, 8.8cm or 3.5in; text then has the size that --font-size says")
        ->type_name("WIDTH");
    command->add_option("--font", choice->look.font, "The font's name (default: a sans serif)")->type_name("NAME");
    command
        ->add_option("--font-size", choice->look.font_pt,
                     "Points of the text of a figure whose --width is given (default: 8)")
        ->check(between(4, 40))
        ->type_name("POINTS");
    command->add_flag("--no-footer", choice->no_footer, "Without the remarks below the figure");
    command->add_flag("--no-title", choice->no_title, "Without remarks and title: for a figure with a caption");
    CLI::Option* const efficiency = command->add_flag(
        "--efficiency", choice->efficiency, "Of an experiment: parallel efficiency over GPUs instead of time");
    command->add_flag("--volume", choice->volume, "Of an experiment: bytes sent in an epoch instead of time")
        ->excludes(efficiency);
    command->add_option("--data", choice->data, "Write the numbers there, one place a line, as CSV")
        ->type_name("FILE");
    command->add_option("--script", choice->script, "Write the gnuplot script there, without `set output`")
        ->type_name("FILE");
    command->callback(
        [&options, &action, choice] { action = [&options, choice] { return draw(*choice, options); }; });
}

}  // namespace gnnbench
