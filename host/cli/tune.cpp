#include <algorithm>
#include <iostream>
#include <set>

#include <fmt/format.h>

#include "cli/experiment_options.hpp"
#include "cli/formats.hpp"
#include "cli/ranges.hpp"
#include "record/comparison.hpp"
#include "record/varying.hpp"
#include "report/tuning_table.hpp"
#include "run/experiment_run.hpp"
#include "run/tuning.hpp"

namespace gnnbench {
namespace {

struct TuneChoice {
    TuningRequest request;
    std::size_t top = 15;
    std::shared_ptr<OutputFormat> format;
};

TunedCell tuned_cell(const ComparisonCell& c, const std::vector<std::string>& other_keys,
                     const std::filesystem::path& database) {
    TunedCell out{.dataset = c.dataset,
                  .scheme = c.scheme,
                  .scheme_name = c.scheme_name,
                  .partitioner = c.partitioner,
                  .others = named_values(other_keys, c.others)};
    if (!c.epoch_s || c.ok_trials.empty()) {
        out.status = status_text(c);
        return out;
    }
    out.epoch_s = c.epoch_s->median;
    out.parts = time_parts(database, c.ok_trials.front());
    out.sent_bytes_per_rank = c.sent_bytes_per_epoch.value_or(0) / c.gpus;
    out.peak_memory_bytes = c.peak_memory_bytes.value_or(0);
    return out;
}

/// Adds a cell, or its partitioner to the same scheme's cell with the same numbers: a scheme whose permutation ignores
/// parts, for example, has the same under every partitioner.
void add(std::vector<TunedCell>& cells, TunedCell cell) {
    const auto is_same = [&](const TunedCell& c) {
        return c.dataset == cell.dataset && c.others == cell.others && c.scheme == cell.scheme &&
               c.status == cell.status && c.epoch_s == cell.epoch_s &&
               c.sent_bytes_per_rank == cell.sent_bytes_per_rank && c.peak_memory_bytes == cell.peak_memory_bytes;
    };
    const auto at = std::ranges::find_if(cells, is_same);
    if (at == cells.end())
        cells.push_back(std::move(cell));
    else
        at->partitioner += ", " + cell.partitioner;
}

/// "scheme cagnet-3d: needs a cubic number of ranks (1, 8, 27 …); 6 given"
std::vector<std::string> reasons(const std::vector<NotPredicted>& cells) {
    std::vector<std::string> lines;
    for (const NotPredicted& c : cells) {
        std::string line = c.reason.starts_with("scheme ") ? c.reason : fmt::format("{}: {}", c.scheme, c.reason);
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
    return lines;
}

int tune(const TuneChoice& choice, const GlobalOptions& options) {
    const InstalledPlugins plugins;
    const RunPlaces places{options.database, options.data_dir};
    RunRequest request;
    std::vector<NotPredicted> skipped;
    request.experiment = tuned_experiment(choice.request, Catalog::at(options.data_dir), plugins, skipped);
    // Of its many trials the ranking tells.
    Progress progress(verbosity() == Verbosity::normal ? Verbosity::status : verbosity());
    const RunResult result = run_experiment(request, places, progress);
    if (result.report.interrupted) {
        progress.problem("interrupted; what was predicted is kept, and the same command goes on");
        return exit_interrupted;
    }
    const ComparisonData found =
        read_comparison(options.database, result.experiment.name, result.machine_fingerprint);
    bool failed = false;
    Tuning tuning;
    tuning.gpus = choice.request.gpus;
    std::ranges::move(not_predicted(request.experiment, places, plugins), std::back_inserter(skipped));
    for (const ComparisonCell& cell : found.cells) {
        if (!cell.status) continue;  // in `skipped`
        if (*cell.status == TrialStatus::skipped) {
            skipped.push_back({cell.scheme, cell.partitioner, cell.reason});
            continue;
        }
        tuning.machine = cell.simulated;
        add(tuning.cells, tuned_cell(cell, found.other_keys, options.database));
        // What does not fit is an answer; a trial that failed is not.
        failed |= *cell.status != TrialStatus::ok && *cell.status != TrialStatus::oom;
    }
    tuning.not_predicted = reasons(skipped);
    std::cout << render_tuning(tuning, choice.top, *choice.format);
    return failed ? exit_cell_failed : exit_ok;
}

}  // namespace

void add_tune(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* command = app.add_subcommand(
        "tune",
        "Rank schemes, their grids and partitioners by predicted time on a machine, for an experiment's model");
    auto choice = std::make_shared<TuneChoice>();
    TuningRequest& request = choice->request;
    add_experiment_options(*command, request.experiment);
    add_allow_programs(*command, request.experiment);
    command->add_option("--machine", request.machine, "As `gnnbench machine list` shows it, or a machine file")
        ->required()
        ->type_name("MACHINE");
    command->add_option("--gpus", request.gpus, "How many ranks")->required()->check(at_least(1))->type_name("N");
    command
        ->add_option("--scheme", request.schemes,
                     "Only these; default: the experiment's, and all that train exactly on the whole graph")
        ->delimiter(',')
        ->type_name("SCHEME,...");
    command
        ->add_option("--partitioner", request.partitioners,
                     "Only these; default: the experiment's, random and metis")
        ->delimiter(',')
        ->type_name("PARTITIONER,...");
    command->add_option("--top", choice->top, "How many lines of each dataset; 0: all")->type_name("N");
    choice->format = add_format_options(*command);
    command->callback([&, choice] { action = [&, choice] { return tune(*choice, options); }; });
}

}  // namespace gnnbench
