// How long the database takes to answer when it is large, a plan of many cells takes, and what a trial costs beyond its
// processes. Limits are those of docs/database.md; with --check the program fails where one is not kept.
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "launch/machine.hpp"
#include "command_line/command_line.hpp"
#include "record/query.hpp"
#include "results/large_database.hpp"
#include "results/trial_cost.hpp"

using namespace gnnbench;
using namespace gnnbench::bench;
namespace fs = std::filesystem;

namespace {

struct Options {
    std::int64_t epochs = 1'000'000, cells = 10'000;
    int rounds = 3, trials = 20;
    double query_limit_s = 0.02, plan_limit_s = 0.3, trial_limit_s = 0.003;
    bool check = false;
    std::string keep, output;
};

struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "gnnbench-bench-XXXXXX").string();
        if (!mkdtemp(name.data())) throw EnvironmentError("cannot make " + name);
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

/// The program itself, start-up included, without a database and with one that has nothing of it.
void bench_plan(const Options& o, const fs::path& folder, const fs::path& database, LimitReport& report) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "gnnbench";
    if (!fs::exists(program)) {
        report.paragraph("Plans are not measured: gnnbench is not beside this program.");
        return;
    }
    const fs::path file = folder / "plan.yaml";
    std::string seeds;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, o.cells / 16); ++i)
        seeds += fmt::format("{}{}", i ? ", " : "", i);
    std::ofstream(file) << "name: plan\ndataset: {generate: dcsbm, vertices: 20000, average_degree: 40, features: "
                           "64, classes: 8}\n"
                           "matrix:\n  scheme: [cagnet-1d, mg-gcn]\n  gpus: [2, 4]\n  partitioner: [random, "
                           "block]\n  train.lr: [0.1, 0.01]\n  seed: ["
                        << seeds << "]\n  exclude: {where: gpus > 1000, reason: there are none}\n";
    for (const fs::path& db : {folder / "none.sqlite", database}) {
        int code = 0;
        std::size_t bytes = 0;
        const double s = best_s(o.rounds, [&] {
            const ProgramOutput out = run_program(
                {program.string(), "--database", db.string(), "plan", file.string()}, current_environment(), 600);
            code = out.exit_code;
            bytes = out.text.size();
        });
        if (code != 0) throw EnvironmentError(fmt::format("gnnbench plan ended with {}", code));
        report.add(fmt::format("plan of {} cells, {}", o.cells, db == database ? "large database" : "no database"),
                   s, o.plan_limit_s, fmt::format("{} bytes printed", bytes));
    }
}

std::string introduction(const std::string& command) {
    const Machine m = this_machine(find_mpiexec());
    const nlohmann::json p = provenance();
    return fmt::format(
        "# The database, plans and trials at size\n\n{:%Y-%m-%d}. {}, {} cores, {} GiB, {}; load average {:.1f} "
        "at the start. "
        "Commit {}.\n\nCommand: `{}`\n\nTimes are the shortest of the rounds, of trials the mean.",
        fmt::gmtime(std::time(nullptr)), m.cpu, m.cores, m.memory_gib, m.mpi, p["load_average"][0].get<double>(),
        p["commit"].get<std::string>().substr(0, 12), command);
}

int measure(const Options& o, const std::string& command) {
    const Folder folder;
    const fs::path path = o.keep.empty() ? folder.path / "large.sqlite" : fs::path(o.keep);
    LimitReport report;
    report.paragraph(introduction(command));
    if (!fs::exists(path)) fill_database(path, o.epochs);
    report.begin_table(
        fmt::format("A database of {} epoch rows, {:.0f} MB",
                    std::get<std::int64_t>(query(path, "SELECT count(*) FROM epoch").rows.at(0).at(0)),
                    static_cast<double>(fs::file_size(path)) / 1e6));
    bench_queries(path, o.rounds, o.query_limit_s, report);
    report.begin_table("gnnbench plan, from start to end");
    bench_plan(o, folder.path, path, report);
    if (o.trials > 0) {
        report.begin_table("gnnbench run, beyond its ranks");
        bench_trials(folder.path, o.trials, o.rounds, o.trial_limit_s, report);
    }
    if (!o.output.empty() && !(std::ofstream(o.output) << report.text()))
        throw EnvironmentError(fmt::format("cannot write {}", o.output));
    return o.check && !report.all_kept() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    CommandLine app{
        "Time of queries on a large database, of a large plan, and of what a trial costs beyond its processes"};
    app.add("--epochs", o.epochs, "Epoch rows in the database").positive();
    app.add("--cells", o.cells, "Of the plan").positive();
    app.add("--rounds", o.rounds, "The best of so many counts").positive();
    app.add("--trials", o.trials, "In each round, by gnnbench and by mpiexec alone; 0: none").not_negative();
    app.add("--database", o.keep, "Keep the database in this file, and use it if it is there");
    app.add("--output", o.output, "Markdown file to write, beside stdout");
    app.add("--check", o.check, "Fail where a limit is not kept");
    if (const auto code = app.parse(argc, argv)) return *code;
    std::string command = "bench_results";
    for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
    try {
        return measure(o, command);
    } catch (const Error& e) {
        fmt::print(stderr, "bench_results: {}\n", e.what());
        return 5;
    }
}
