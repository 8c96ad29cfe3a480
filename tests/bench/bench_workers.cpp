// bench_workers: what workers on batches do together beside bare MPI, and an epoch of batches beside its GEMMs.
#include <cstdio>
#include <ctime>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>

#include "launch/interrupt.hpp"
#include "launch/machine.hpp"
#include "command_line/command_line.hpp"
#include "started_ranks.hpp"

namespace gnnbench::bench {
namespace {

using nlohmann::json;

struct Arguments {
    int rounds = 30;
    std::int64_t repetitions = 5000;
    double scale = 1;
    std::string output;
};

/// Reddit has 232,965 vertices in 40 clusters: batches of 5,824, with 71,600 of its 114.6 million edges each. A
/// quarter of the vertices in 10 clusters, with a quarter of the edges a vertex, has batches of the same size.
constexpr double vertices = 58'241;
constexpr int clusters = 10, average_degree = 123, features = 602, classes = 41, hidden = 128;
constexpr std::int64_t parameters =
    2 * (features * hidden + hidden * hidden + hidden * classes) + 2 * hidden + classes;

json measured(const Mpiexec& mpiexec, const Arguments& a, int ranks) {
    const auto scaled = static_cast<std::int64_t>(vertices * a.scale);
    return by_ranks(mpiexec, "worker_ranks", ranks,
                    {{"rounds", a.rounds},
                     {"repetitions", a.repetitions},
                     {"elements", parameters},
                     {"epoch",
                      {{"graph",
                        {{"vertices", scaled},
                         {"average_degree", std::min<std::int64_t>(average_degree, scaled / 8)},
                         {"features", features},
                         {"classes", classes}}},
                       {"clusters", clusters},
                       {"hidden", {hidden, hidden}},
                       {"dropout", 0.2}}}});
}

std::string introduction(const Mpiexec& mpiexec, const std::string& command, const Arguments& a) {
    const Machine m = this_machine(mpiexec);
    const json p = provenance();
    return fmt::format(
        "# What workers on batches do, beside bare MPI and GEMMs\n\n"
        "`{}`\n\n{:%Y-%m-%d}, commit {}, {}, {} cores, {} GiB, {};\nload average {:.1f} at the start.\n\n"
        "Ours and its bare counterpart take turns; times are medians over rounds, a ratio is the median of each "
        "round's.\nWhere all "
        "ranks share a host, an access to a shared word is an atomic instruction. Ours is also counted and timed, "
        "which "
        "takes two\nreadings of the clock. Averaging reads and writes what it exchanges once more, which the bare "
        "send-receive does not.\nWords are in shared memory of rank 0 and rank 1 works alone; averaging is of {} "
        "float32 "
        "values, the "
        "parameters of\nGraphSAGE {} → {} → {} → {}. The epoch has {} batches of random clusters, each of the "
        "size of "
        "Reddit's 40 (some 5,824\nvertices and 71,600 edges, synthetic), one thread beside the one that prepares "
        "the "
        "next batch; its GEMMs are repeated on\nthe same memory, without bias and activation.\n\n",
        command, fmt::gmtime(std::time(nullptr)), p["commit"].get<std::string>().substr(0, 12), m.cpu, m.cores,
        m.memory_gib, m.mpi, p["load_average"][0].get<double>(), parameters, features, hidden, hidden, classes,
        a.scale == 1 ? fmt::to_string(clusters) : fmt::format("{} (scaled by {})", clusters, a.scale));
}

std::string shown(double seconds) {
    return seconds < 1e-3 ? fmt::format("{:.2f} µs", 1e6 * seconds) : fmt::format("{:.2f} ms", 1e3 * seconds);
}

/// Prints as a table; `missed` counts ratios over their goals.
std::string table(const json& results, int& missed) {
    constexpr double goals[] = {1.5, 1.5, 1.2, 1.3};
    std::string text = "| what | ours | bare | ours ÷ bare | goal |\n| --- | --- | --- | --- | --- |\n";
    for (std::size_t i = 0; i < results.size(); ++i) {
        const json& r = results[i];
        const double ratio = r.at("ratio");
        missed += ratio > goals[i];
        text += fmt::format(
            "| {}{} | {} | {} | {:.2f} | {}{} |\n", r.at("what").get<std::string>(),
            r.contains("operations") ? fmt::format(" ({:.0f} of them)", r["operations"].get<double>()) : "",
            shown(r.at("ours_s")), shown(r.at("bare_s")), ratio, goals[i], ratio > goals[i] ? ", missed" : "");
    }
    for (const auto& [part, seconds] : results.at(2).at("parts").items())
        text += fmt::format("{} {}: {}", text.ends_with('\n') ? "\nOf the averaging," : ",", part, shown(seconds));
    text += ".\n";
    std::string phases;
    for (const auto& [phase, seconds] : results.back().at("phases").items())
        phases += fmt::format("{}{} {:.1f}", phases.empty() ? "" : ", ", phase, 1e3 * seconds.get<double>());
    text += fmt::format("\nThe last epoch by phase, in ms: {}.", phases);
    return text + "\n";
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench::bench;
    Arguments a;
    gnnbench::CommandLine app(
        "What workers on batches do together beside bare MPI, and an epoch beside its GEMMs");
    app.add("--rounds", a.rounds, "of each measurement; a third of them of the epoch").within(1, 1000);
    app.add("--repetitions", a.repetitions, "of a small operation in a round").within(1, 1'000'000);
    app.add("--scale", a.scale, "of the graph's vertices").within(0.01, 4.0);
    app.add("--output", a.output, "Markdown file to write, beside stdout");
    if (const auto code = app.parse(argc, argv)) return *code;
    std::string command = "bench_workers";
    for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
    const gnnbench::InterruptGuard guard;  // interrupted, it ends its ranks and removes its files
    try {
        const gnnbench::Mpiexec mpiexec = gnnbench::find_mpiexec();
        std::string text = introduction(mpiexec, command, a);
        nlohmann::json results = measured(mpiexec, a, 2);
        results.push_back(measured(mpiexec, a, 1).at(0));
        int missed = 0;
        text += table(results, missed);
        std::fputs(text.c_str(), stdout);
        if (!a.output.empty() && !(std::ofstream(a.output) << text))
            throw gnnbench::EnvironmentError(fmt::format("cannot write {}", a.output));
        if (missed > 0) std::fprintf(stderr, "bench_workers: %d goals are missed\n", missed);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_workers: %s\n", e.what());
        return 5;
    }
}
