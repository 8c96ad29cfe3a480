// How trials are started: what a file and --launcher say about it.
#include "spec_fakes.hpp"

using namespace gnnbench;
using Catch::Contains;
using gnnbench::test::complaint;
using gnnbench::test::read;

namespace {

const std::string head = "dataset: cora\nscheme: mg-gcn\n";

}  // namespace

TEST_CASE("a launcher that cannot be is refused, with its place") {
    CHECK_THAT(complaint(head + "launcher: slurm\n"),
               Contains("exp.yaml:3:11: launcher.name: found the text 'slurm'; allowed: gridengine, local, pbs, "
                        "sbatch, srun, ssh"));
    CHECK_THAT(complaint(head + "launcher: {name: srun, partion: gpu}\n"),
               Contains("launcher.partion: unknown key") && Contains("did you mean 'partition'?"));
    CHECK_THAT(complaint(head + "launcher: {options: --exclusive}\n"),
               Contains("launcher.options: expected a list of texts") && Contains("write [--exclusive]"));
    CHECK_THAT(complaint(head + "launcher: {options: [[a]]}\n"), Contains("found a list in it"));
    CHECK_THAT(complaint(head + "matrix: {launcher.name: [local, srun]}\n"), Contains("launcher"));
}

TEST_CASE("a word alone is the launcher's name, wherever it meets a mapping") {
    CHECK(read(head).launcher.name == "local");
    CHECK_FALSE(read(head).launcher.elsewhere());
    CHECK(read(head + "launcher: ssh\n").launcher.elsewhere());
    CHECK_FALSE(read(head + "launcher: ssh\n").launcher.submits());
    CHECK(read(head + "launcher: sbatch\n").launcher.has_arrays());
    CHECK_FALSE(read(head + "launcher: pbs\n").launcher.has_arrays());
    CHECK(read(head + "launcher: srun\n").launcher.name == "srun");
    const std::string whole =
        head + "launcher: {partition: gpu, options: [--exclusive, -C a100], time: \"1:30:00\"}\n";
    const LauncherChoice both = read(whole, {"launcher.name=sbatch"}).launcher;
    CHECK(both.name == "sbatch");
    CHECK(both.partition == "gpu");
    CHECK(both.time == "1:30:00");
    CHECK(both.options == std::vector<std::string>{"--exclusive", "-C a100"});
    CHECK(both.jobs == "array");
    const LauncherChoice set = read(head + "launcher: srun\n", {"launcher.partition=gpu"}).launcher;
    CHECK(set.name == "srun");
    CHECK(set.partition == "gpu");
    const std::string profiles = "profiles: {a: {launcher: sbatch}, b: {launcher: {account: lab}}}\n";
    CHECK(read(whole + profiles, {}, "a").launcher.partition == "gpu");
    CHECK(read(whole + profiles, {}, "a").launcher.name == "sbatch");
    const LauncherChoice over = read(head + "launcher: srun\n" + profiles, {}, "b").launcher;
    CHECK(over.name == "srun");
    CHECK(over.account == "lab");
}

TEST_CASE("the launcher is no part of a cell; the hosts it names decide about threads") {
    const test::FakePlugins plugins;
    const test::FakeDatasets datasets;
    LoadOptions options{.overrides = {}, .cores = 8, .hosts = 1};
    options.hosts_of = [](const LauncherChoice& choice) {
        return HostShape{64, choice.nodes > 0 ? static_cast<int>(choice.nodes) : 1};
    };
    const auto threads = [&](const std::string& launcher) {
        return read_experiment(head + "gpus: 4\n" + launcher, "exp.yaml", options, plugins, datasets)
            .cells[0]
            .threads_per_rank;
    };
    CHECK(threads("") == 2);
    CHECK(threads("launcher: srun\n") == 16);
    CHECK(threads("launcher: {name: srun, nodes: 2}\n") == 32);
    const std::string fixed = head + "threads_per_rank: 1\n";
    CHECK(cell_digest(read(fixed).cells[0]) == cell_digest(read(fixed + "launcher: sbatch\n").cells[0]));
}
