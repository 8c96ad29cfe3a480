// gnnbench selftest aa and verdicts: compare one cell with itself, to measure how reliable compare's verdicts are on this
// machine.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "cli/formats.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/ranges.hpp"
#include "launch/interrupt.hpp"
#include "launch/machine.hpp"
#include "record/query.hpp"
#include "record/selftest.hpp"
#include "record/statistics.hpp"
#include "report/rows.hpp"
#include "run/progress.hpp"
#include "run/recovery.hpp"
#include "run/sweep.hpp"
#include "run/verdict_check.hpp"

namespace gnnbench {

namespace {

struct AaRequest {
    ExperimentChoice experiment;
    std::int64_t trials = 40, draws = 1000;
    double slowdown = 0.1;
    std::string keep;
};

/// A cell whose trials take about a second, half of it start-up. One thread: two would wait for each other whenever
/// another process uses a core, and would measure that rather than this machine.
constexpr const char* own_experiment = R"(
name: selftest-aa
dataset: {generate: dcsbm, vertices: 5000, average_degree: 20, features: 64, classes: 8}
model: {hidden: [64]}
scheme: serial
gpus: 1
threads_per_rank: 1
epochs: 60
)";

Experiment one_cell(const AaRequest& request, const Catalog& catalog, const PluginSource& plugins) {
    LoadOptions options;
    options.overrides = request.experiment.overrides;
    options.profile = request.experiment.profile;
    options.cores = usable_cores();
    Experiment e = request.experiment.file.empty() ? read_experiment(own_experiment, "selftest-aa.yaml", options,
                                                                     plugins, InstalledDatasets(catalog))
                                                   : load(request.experiment, catalog, plugins, shape_of);
    e.cells.resize(1);
    e.choices.resize(1);
    return e;
}

/// Runs the cell until there are `trials` trials, and returns their times in the order in which they ran.
std::vector<double> measured(const std::filesystem::path& database, const PreparedExperiment& prepared,
                             const PluginSource& plugins, std::int64_t trials, Progress& progress) {
    PreparedExperiment now = prepared;
    now.experiment.trials = trials;
    Database results(database);
    recover(results, [&](const std::string& line) { progress.message(line); });
    TrialRunner runner(results, now.experiment, make_direct_launcher(now.experiment.launcher, "selftest aa"));
    SweepRules rules;
    rules.verify = false;
    const Plan plan = plan_of(now, plugins, &results, site_of(*runner.launcher()), {});
    const SweepReport report = Sweep({now, plan, results, runner, rules, progress}).run();
    runner.finish();
    if (report.interrupted) return {};
    if (!report.all_well() || report.skipped)
        throw EnvironmentError(
            "not all of the cell's trials succeed, so it cannot be compared with itself; run it with "
            "`gnnbench run` to see why");
    std::vector<double> times_s;
    const std::vector<SqlValue> argument{now.cells[0].record.digest};
    for (const SqlRow& row : query(database,
                                   "SELECT t.epoch_s FROM trial t JOIN cell c ON c.id = t.cell_id WHERE c.digest "
                                   "= ?1 AND t.status = 'ok' "
                                   "AND t.purpose = 'measure' ORDER BY t.id",
                                   argument)
                                 .rows)
        times_s.push_back(std::get<double>(row[0]));
    return times_s;
}

int aa(const AaRequest& request, OutputFormat format, const GlobalOptions& options) {
    Progress progress;
    const TemporaryFolder scratch("selftest");
    const std::filesystem::path database =
        request.keep.empty() ? scratch.path() / "aa.sqlite" : std::filesystem::path(request.keep);
    const Catalog catalog = request.experiment.file.empty() && !options.data_dir_given
                                ? Catalog(scratch.path() / "datasets")
                                : Catalog::at(options.data_dir);
    const InstalledPlugins plugins;
    const Notify notify = [&](const std::string& line) { progress.message(line); };
    const PreparedExperiment prepared =
        prepare(one_cell(request, catalog, plugins), catalog, plugins, Datasets::make, notify);
    const InterruptGuard interrupts;
    const CompareRules rules;
    std::vector<double> pool = measured(database, prepared, plugins, request.trials, progress);
    // The pool determines how many trials a verdict takes here; a larger pool may change that number.
    for (std::int64_t wanted = 0; !pool.empty() && (wanted = pool_for(pool, request.slowdown, rules)) >
                                                       static_cast<std::int64_t>(pool.size());) {
        progress.message(
            fmt::format("detecting a slowdown of {:.0f}% takes {} trials per side here; the pool grows to {}",
                        100 * request.slowdown, wanted / 2, wanted));
        pool = measured(database, prepared, plugins, wanted, progress);
    }
    if (pool.empty()) return exit_interrupted;
    const AaResult r = against_itself(pool, request.slowdown, request.draws, rules);
    const Machine machine = make_launcher(prepared.experiment.launcher)->machine();
    const QueryResult table{
        {"cell", "machine", "pool", "spread", "trials_a_side", "draws", "false_rate", "found_rate"},
        {{cell_label(prepared.cells[0].cell), fmt::format("{}, {} cores", machine.cpu, machine.cores),
          static_cast<std::int64_t>(pool.size()), r.spread, r.trials, r.draws, r.false_rate, r.found_rate}}};
    if (format != OutputFormat::text) {
        std::cout << render_rows(table, format);
    } else {
        std::cout << fmt::format(
            "{} on {}, {} cores: {} trials, whose ratios spread by {:.1f}%\n"
            "identical sides of {} trials: called FASTER or SLOWER in {:.1f}% of {} draws\n"
            "one side slowed down by {:.0f}%: called SLOWER in {:.1f}%\n",
            cell_label(prepared.cells[0].cell), machine.cpu, machine.cores, pool.size(), 100 * r.spread, r.trials,
            100 * r.false_rate, r.draws, 100 * request.slowdown, 100 * r.found_rate);
    }
    return r.false_rate <= 0.05 && r.found_rate >= 0.9 ? exit_ok : exit_cell_failed;
}

/// "1.02 (0.94 to 1.31)": median and range.
std::string ratios_text(std::vector<double> ratios) {
    if (ratios.empty()) return "";
    std::ranges::sort(ratios);
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", median(ratios), ratios.front(), ratios.back());
}

QueryResult tally_table(const std::vector<VerdictTally>& tallies) {
    QueryResult table{
        {"slowdown", "measured", "load", "comparisons", "FASTER", "SLOWER", "SAME", "UNCLEAR", "wrong", "B ÷ A"},
        {}};
    for (const VerdictTally& t : tallies)
        table.rows.push_back({t.setting.factor,
                              std::string(t.setting.interleaved ? "by turns" : "one after the other"),
                              std::string(t.setting.loaded ? "yes" : "no"), t.comparisons, t.faster, t.slower,
                              t.same, t.unclear, t.wrong(), ratios_text(t.ratios)});
    return table;
}

int verdicts(VerdictCheckRequest request, OutputFormat format) {
    Progress progress;
    const TemporaryFolder scratch("selftest");
    request.scratch = scratch.path();
    const std::vector<VerdictTally> tallies = check_verdicts(request, InstalledPlugins(), progress);
    std::int64_t equal = 0, wrong = 0, slowed = 0, reversed = 0;
    for (const VerdictTally& t : tallies) {
        (t.setting.factor > 1 ? slowed : equal) += t.comparisons;
        (t.setting.factor > 1 ? reversed : wrong) += t.wrong();
    }
    std::cout << render_rows(tally_table(tallies), format);
    if (format == OutputFormat::text)
        std::cout << fmt::format(
            "\nequal sides: {} of {} called FASTER or SLOWER (at most {} are due to chance)\n"
            "slowed sides: {} of {} called FASTER (none may be)\n",
            wrong, equal, most_wrong(equal), reversed, slowed);
    if (equal + slowed < request.equal / 4 * 4 + request.slowed / 4 * 4) return exit_interrupted;
    return wrong <= most_wrong(equal) && reversed == 0 ? exit_ok : exit_cell_failed;
}

void add_verdicts(CLI::App& selftest, Action& action) {
    CLI::App* command = selftest.add_subcommand("verdicts",
                                                "Compare equal and slowed-down sides, by turns and one after the "
                                                "other, on an idle and a loaded machine, and "
                                                "count wrong verdicts; about 15 minutes");
    auto request = std::make_shared<VerdictCheckRequest>();
    command->add_option("--equal", request->equal, "Comparisons of equal sides (default: 100)")
        ->check(between(0, 100000));
    command
        ->add_option("--slowed", request->slowed,
                     "Comparisons with one side declared 1.1 or 1.3 times slower (default: 40)")
        ->check(between(0, 100000));
    command->add_option("--trials", request->trials, "Of each side (default: 7)")->check(between(6, 1000));
    command->add_option("--seed", request->seed, "Of the order of trials and of the load (default: 0)")
        ->type_name("SEED");
    const auto format = add_format_options(*command);
    command->callback([=, &action] { action = [=] { return verdicts(*request, *format); }; });
}

}  // namespace

void add_selftest(CLI::App& app, const GlobalOptions& options, Action& action) {
    CLI::App* all = app.add_subcommand("selftest", "Measure how reliable measurements are on this machine");
    all->require_subcommand(1);
    add_verdicts(*all, action);
    CLI::App* command = all->add_subcommand(
        "aa", "Compare a cell with itself: how often verdicts are wrong, and how often they miss a slowdown");
    auto request = std::make_shared<AaRequest>();
    command
        ->add_option("experiment", request->experiment.file,
                     "Its first cell is used (default: a small one of the program's)")
        ->type_name("EXPERIMENT");
    command->add_option("--set", request->experiment.overrides, "As for run")->type_name("KEY=VALUE")->take_all();
    command
        ->add_option("--trials", request->trials,
                     "Initial size of the pool; it grows if compare asks for more trials (default: 40)")
        ->check(between(12, 100000));
    command->add_option("--draws", request->draws, "From the pool (default: 1000)")->check(at_least(1));
    command
        ->add_option("--slowdown", request->slowdown,
                     "The slowdown of one side to detect, as a fraction (default: 0.1)")
        ->check(between(0.01, 10.0));
    command->add_option("--keep", request->keep, "Database that keeps the trials for later calls (default: none)")
        ->type_name("FILE");
    const auto format = add_format_options(*command);
    command->callback(
        [=, &options, &action] { action = [=, &options] { return aa(*request, *format, options); }; });
}

}  // namespace gnnbench
