#include <filesystem>
#include <optional>

#include <gnnbench/error.hpp>

#include "cli/endings.hpp"
#include "cli/experiment_options.hpp"
#include "cli/options.hpp"
#include "cli/ranges.hpp"
#include "cli/written.hpp"
#include "record/query.hpp"
#include "report/timeline.hpp"
#include "run/prepare.hpp"

namespace gnnbench {

namespace {

constexpr Ending trace_endings[] = {{".json", "chrome"}, {".svg", "svg"}};

struct TraceChoice {
    std::string what, format, where;
    std::optional<std::int64_t> epoch;
    std::optional<double> from_ms, to_ms;
    std::filesystem::path output;
};

bool is_experiment(const std::filesystem::path& database, const std::string& name) {
    for (const auto& row : query(database, "SELECT name FROM experiment").rows)
        if (std::get<std::string>(row[0]) == name) return true;
    return false;
}

Timeline chosen(const TraceChoice& choice, const GlobalOptions& options) {
    const bool names_experiment = choice.what.empty() || std::filesystem::is_regular_file(choice.what) ||
                                  is_experiment(options.database, choice.what);
    const std::string trial =
        names_experiment ? traced_trial(options.database, experiment_name(choice.what, options), choice.where)
                         : choice.what;
    if (!names_experiment && !choice.where.empty())
        throw SpecError("--where chooses among an experiment's cells; '" + choice.what + "' names a trial");
    return read_timeline(options.database, trial, choice.epoch);
}

std::string rendered(const TraceChoice& choice, const GlobalOptions& options) {
    const bool svg = format_for(choice.output, choice.format, trace_endings, "chrome") == "svg";
    if (!svg && (choice.from_ms || choice.to_ms))
        throw SpecError("--from and --to are for --format svg; a viewer of Chrome traces zooms by itself");
    const Timeline timeline = chosen(choice, options);
    if (!svg) return timeline_chrome(timeline);
    TimelineWindow window;
    if (choice.from_ms) window.begin_s = *choice.from_ms / 1e3;
    if (choice.to_ms) window.end_s = *choice.to_ms / 1e3;
    return timeline_svg(timeline, window);
}

int trace(const TraceChoice& choice, const GlobalOptions& options) {
    write_output(choice.output, rendered(choice, options));
    return exit_ok;
}

}  // namespace

void add_trace(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand("trace", "Export the timeline of a traced epoch (see run --trace)");
    auto choice = std::make_shared<TraceChoice>();
    command
        ->add_option("what", choice->what,
                     "A trial's UUID or its beginning, or an experiment's name or file (default: the one measured "
                     "last)")
        ->type_name("TRACED");
    add_where_option(*command, choice->where);
    command->add_option("--epoch", choice->epoch, "Which (default: the last one traced)")->type_name("N");
    command
        ->add_option("--format", choice->format, "chrome: opens in Perfetto; svg: a figure (default: by --output)")
        ->check(one_of({"chrome", "svg"}));
    command->add_option("--from", choice->from_ms, "Start of the figure within the epoch")->type_name("MS");
    command->add_option("--to", choice->to_ms, "Where it ends")->type_name("MS");
    command->add_option("-o,--output", choice->output, "Write it there: .json or .svg (default: stdout)")
        ->type_name("FILE");
    command->callback(
        [&options, &action, choice] { action = [&options, choice] { return trace(*choice, options); }; });
}

}  // namespace gnnbench
