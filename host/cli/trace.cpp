#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "cli/endings.hpp"
#include "cli/experiment_options.hpp"
#include "cli/options.hpp"
#include "cli/ranges.hpp"
#include "cli/written.hpp"
#include "core/plural.hpp"
#include "record/query.hpp"
#include "report/timeline.hpp"
#include "run/prepare.hpp"
#include "run/progress.hpp"

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

/// Which trial was chosen, and of what, where there was a choice.
std::string choice_text(const TracedTrial& t) {
    if (t.cells == 1 && t.trials == 1) return {};
    std::string text = fmt::format("trial {}: {}, {}, {}, {}{}{}", t.trial, t.scheme, t.partitioner,
                                   plural(t.gpus, "gpu"), t.dataset, t.others.empty() ? "" : ", ", t.others);
    if (t.cells > 1)
        text += fmt::format("; of {} traced cells that of the most ranks{}", t.cells,
                            t.widest > 1 ? fmt::format(", the fastest of {}", t.widest) : "");
    if (t.trials > 1)
        text += t.epoch_s
                    ? fmt::format("; the median of its {} traced trials", t.trials)
                    : fmt::format("; the newest of its {} traced trials, of which none ended well", t.trials);
    return text + "; --where chooses another cell, a UUID another trial";
}

std::string named_choice(const TracedTrial& traced) {
    if (const std::string text = choice_text(traced); !text.empty()) Progress().message(text);
    return traced.trial;
}

Timeline chosen(const TraceChoice& choice, const GlobalOptions& options) {
    const bool names_experiment = choice.what.empty() || std::filesystem::is_regular_file(choice.what) ||
                                  is_experiment(options.database, choice.what);
    const std::string trial =
        names_experiment
            ? named_choice(traced_trial(options.database, experiment_name(choice.what, options), choice.where))
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
                     "last), of which the median trial of the traced cell with the most ranks is taken")
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
