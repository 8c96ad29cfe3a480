#include "results/trial_cost.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "launch/environment.hpp"
#include "launch/machine.hpp"
#include "launch/mpiexec.hpp"

namespace gnnbench::bench {

namespace fs = std::filesystem;

namespace {

constexpr int ranks = 2;
constexpr double most_s = 300;

constexpr const char* experiment = R"(name: tiny
dataset: {generate: dcsbm, vertices: 200, average_degree: 4, features: 8, classes: 3}
model: {hidden: [8]}
scheme: cagnet-1d
partitioner: block
gpus: 2
threads_per_rank: 1
epochs: 1
warmup: 0
)";

void run_well(const std::vector<std::string>& command, const Environment& environment) {
    const ProgramOutput out = run_program(command, environment, most_s);
    if (out.exit_code == 0) return;
    throw EnvironmentError(fmt::format("'{}' ended with {}: {}", command.front(), out.exit_code, out.text));
}

/// gnnbench on the tiny experiment, in its folder.
class Tiny {
public:
    Tiny(fs::path folder, fs::path programs) : folder_(std::move(folder)), programs_(std::move(programs)) {
        fs::create_directories(folder_);
        std::ofstream(folder_ / "tiny.yaml") << experiment;
    }

    void run(const fs::path& database, int trials, const Environment& environment) const {
        run_well({(programs_ / "gnnbench").string(), "--database", database.string(), "--data-dir",
                  (folder_ / "data").string(), "run", (folder_ / "tiny.yaml").string(), "--no-verify", "--set",
                  fmt::format("trials={}", trials)},
                 environment);
    }

    /// The request of one trial, kept by a launcher that copies it on its way to the real one.
    fs::path request(const Mpiexec& mpiexec) const {
        const fs::path kept = folder_ / "request.json", launcher = folder_ / "mpiexec";
        std::ofstream(launcher) << fmt::format(
            "#!/bin/sh\nfor last; do :; done\ncase $last in *.json) cp \"$last\" '{}' ;; esac\nexec '{}' \"$@\"\n",
            kept.string(), mpiexec.path);
        fs::permissions(launcher, fs::perms::owner_all);
        Environment environment = current_environment();
        environment.push_back("GNNBENCH_MPIEXEC=" + launcher.string());
        run(folder_ / "request.sqlite", 1, environment);
        std::ifstream in(kept);
        nlohmann::json request = nlohmann::json::parse(in);
        const fs::path journal = folder_ / "bare.journal";  // a worker makes none
        std::ofstream{journal};
        request["journal"] = journal.string();
        std::ofstream(kept) << request;
        return kept;
    }

private:
    fs::path folder_, programs_;
};

}  // namespace

void bench_trials(const fs::path& folder, int trials, int rounds, double limit_s, LimitReport& report) {
    const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
    if (!fs::exists(programs / "gnnbench") || !fs::exists(programs / "gnnbench-worker")) {
        report.paragraph("Trials are not measured: gnnbench and its worker are not beside this program.");
        return;
    }
    const Mpiexec mpiexec = find_mpiexec();
    const Tiny tiny(folder / "trials", programs);
    const fs::path request = tiny.request(mpiexec);
    const Environment ours = current_environment(),
                      bare = local_trial_environment(ours, mpiexec, {ranks, 1, usable_cores()}, "bare", "");
    const auto command =
        mpiexec_command(mpiexec, ranks, (programs / "gnnbench-worker").string(), {request.string()});
    double run_s = 0, nothing_s = 0, bare_s = 0;
    for (int r = 0; r < rounds; ++r) {
        const fs::path database = folder / fmt::format("trials-{}.sqlite", r);
        run_s += seconds_of([&] { tiny.run(database, trials, ours); });
        bare_s += seconds_of([&] {
            for (int t = 0; t < trials; ++t) run_well(command, bare);
        });
        nothing_s += seconds_of([&] { tiny.run(database, trials, ours); });  // all of them are there
    }
    const double each_bare_s = bare_s / (rounds * trials);
    const std::string beside =
        fmt::format("{} trials in {} rounds; bare mpiexec {:.1f} ms", rounds * trials, rounds, 1e3 * each_bare_s);
    report.add("a trial over bare mpiexec", (run_s - nothing_s) / (rounds * trials) - each_bare_s, limit_s,
               beside);
    report.add(fmt::format("the same with a {}th of starting gnnbench", trials),
               run_s / (rounds * trials) - each_bare_s, limit_s,
               fmt::format("starting it: {:.1f} ms", 1e3 * nothing_s / rounds));
}

}  // namespace gnnbench::bench
