#include "run/verdict_check.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/interrupt.hpp"
#include "launch/machine.hpp"
#include "record/compare.hpp"
#include "run/sweep.hpp"

namespace gnnbench {

namespace {

/// Trains by batches, because only such schemes can be declared slow.
constexpr const char* experiment_text = R"(
name: verdicts
dataset: {{generate: dcsbm, vertices: 2000, average_degree: 10, features: 32, classes: 4}}
model: {{hidden: [32]}}
scheme: {{name: cluster-gcn, clusters: 4}}
gpus: 1
threads_per_rank: 1
matrix: {{slowdown: [{{}}, {{0: {}}}]}}
epochs: 20
)";

/// What else a busy machine does: each core is taken for a random while, then left for a random while.
class Load {
public:
    explicit Load(std::uint64_t seed) {
        for (int core = 0; core < usable_cores(); ++core)
            threads_.emplace_back([this, seed, core] { run(seed + static_cast<std::uint64_t>(core)); });
    }
    ~Load() {
        over_ = true;
        for (std::thread& thread : threads_) thread.join();
    }
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

private:
    using Clock = std::chrono::steady_clock;

    void run(std::uint64_t seed) const {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> while_s(0.05, 1.5);
        for (bool busy = true; !over_; busy = !busy) {
            const auto end = Clock::now() + std::chrono::duration<double>(while_s(random));
            while (!over_ && Clock::now() < end)
                if (!busy) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

    std::atomic<bool> over_ = false;
    std::vector<std::thread> threads_;
};

PreparedExperiment prepared_for(double factor, std::int64_t trials, const Catalog& catalog,
                                const PluginSource& plugins, const Notify& notify) {
    LoadOptions options;
    options.cores = usable_cores();
    // A factor of exactly 1 is no slowdown, and so no second cell; a millionth more takes no time that could be measured.
    Experiment experiment = read_experiment(fmt::format(experiment_text, std::max(factor, 1.000001)),
                                            "verdicts.yaml", options, plugins, InstalledDatasets(catalog));
    experiment.trials = trials;
    return prepare(std::move(experiment), catalog, plugins, Datasets::make, notify);
}

/// Runs the trials of the cells that match; false at an interrupt.
bool measure(const PreparedExperiment& prepared, const PluginSource& plugins, Database& results,
             const std::string& where, std::uint64_t seed) {
    Progress quiet(Verbosity::quiet);
    TrialRunner runner(results, prepared.experiment,
                       make_direct_launcher(prepared.experiment.launcher, "selftest"));
    SweepRules rules;
    rules.verify = false;
    rules.order_seed = seed;
    rules.plan.where = where;
    const Plan plan = plan_of(prepared, plugins, &results, site_of(*runner.launcher()), rules.plan);
    const SweepReport report = Sweep({prepared, plan, results, runner, rules, quiet}).run();
    runner.finish();
    if (report.interrupted || InterruptGuard::requested()) return false;
    if (!report.all_well() || report.skipped)
        throw EnvironmentError(
            "not all trials succeed, so no verdict can be checked; gnnbench doctor may say why");
    return true;
}

/// A comparison of its own trials. Empty at an interrupt.
std::optional<Comparison> compare_once(const VerdictSetting& setting, const PreparedExperiment& prepared,
                                       const PluginSource& plugins, const std::filesystem::path& path,
                                       std::uint64_t seed) {
    Database results(path);
    std::optional<Load> load;
    if (setting.loaded) load.emplace(seed);
    const char *equal = "slowdown = 'none'", *slowed = "slowdown <> 'none'";
    const bool whole = setting.interleaved ? measure(prepared, plugins, results, "", seed)
                                           : measure(prepared, plugins, results, equal, seed) &&
                                                 measure(prepared, plugins, results, slowed, seed);
    if (!whole) return std::nullopt;
    const ComparedSides sides =
        compare_sides(path, std::string("where:") + equal, std::string("where:") + slowed, "", {});
    require(sides.cells.size() == 1, "two cells that differ in their slowdown are one comparison");
    return sides.cells[0].verdict;
}

std::vector<VerdictTally> settings_of(const VerdictCheckRequest& request, std::vector<std::int64_t>& wanted) {
    std::vector<VerdictTally> all;
    for (const bool loaded : {false, true}) {
        for (const bool interleaved : {true, false}) {
            all.push_back({.setting = {1, interleaved, loaded}, .ratios = {}});
            wanted.push_back(request.equal / 4);
        }
        for (const double factor : {1.1, 1.3}) {
            all.push_back({.setting = {factor, true, loaded}, .ratios = {}});
            wanted.push_back(request.slowed / 4);
        }
    }
    return all;
}

}  // namespace

void VerdictTally::count(const Comparison& verdict) {
    ++comparisons;
    faster += verdict.judgement == Judgement::faster;
    slower += verdict.judgement == Judgement::slower;
    same += verdict.judgement == Judgement::same;
    unclear += verdict.judgement == Judgement::unclear;
    ratios.push_back(verdict.ratio);
}

std::int64_t most_wrong(std::int64_t comparisons) {
    const double n = static_cast<double>(comparisons);
    return static_cast<std::int64_t>(0.05 * n + 2 * std::sqrt(n * 0.05 * 0.95));
}

std::vector<VerdictTally> check_verdicts(const VerdictCheckRequest& request, const PluginSource& plugins,
                                         Progress& progress) {
    const Catalog catalog(request.scratch / "datasets");
    const Notify silent = [](const std::string&) {};
    std::map<double, PreparedExperiment> prepared;
    for (const double factor : {1.0, 1.1, 1.3})
        prepared.emplace(factor, prepared_for(factor, request.trials, catalog, plugins, silent));
    std::vector<std::int64_t> wanted;
    std::vector<VerdictTally> tallies = settings_of(request, wanted);
    const InterruptGuard interrupts;
    std::int64_t done = 0, all = 0;
    for (const std::int64_t n : wanted) all += n;
    // Settings take turns, so that each meets the same hours of the machine.
    for (std::int64_t round = 0; done < all; ++round)
        for (std::size_t i = 0; i < tallies.size(); ++i) {
            if (round >= wanted[i]) continue;
            progress.status(fmt::format("comparison {} of {}", ++done, all));
            const std::filesystem::path path = request.scratch / fmt::format("{}.sqlite", done);
            const auto verdict = compare_once(tallies[i].setting, prepared.at(tallies[i].setting.factor), plugins,
                                              path, request.seed + static_cast<std::uint64_t>(done));
            if (!verdict) return tallies;
            tallies[i].count(*verdict);
            if (done % 20 == 0) progress.message(fmt::format("{} of {} comparisons", done, all));
            std::error_code ignored;
            std::filesystem::remove(path, ignored);
        }
    return tallies;
}

}  // namespace gnnbench
