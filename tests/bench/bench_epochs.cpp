// bench_epochs: what an epoch costs where there is nearly nothing to compute, by layer, and beside the MPI calls that it
// makes.
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
    int rounds = 5, epochs = 300, hidden = 16;
    std::int64_t vertices = 16;
    std::string output;
};

constexpr double goal_us = 20, goal_ratio = 3;

json measured(const Mpiexec& mpiexec, const Arguments& a, int ranks, const json& schemes) {
    return by_ranks(mpiexec, "epoch_ranks", ranks,
                    {{"rounds", a.rounds},
                     {"epochs", a.epochs},
                     {"hidden", a.hidden},
                     {"threads", 1},
                     {"layers", {1, 2, 4}},
                     {"schemes", schemes},
                     {"graph",
                      {{"vertices", a.vertices},
                       {"average_degree", 2},
                       {"features", a.hidden},
                       {"classes", 4},
                       {"communities", 2}}}});
}

std::string introduction(const Mpiexec& mpiexec, const std::string& command, const Arguments& a) {
    const Machine m = this_machine(mpiexec);
    const json p = provenance();
    return fmt::format(
        "# The fixed cost of an epoch\n\n{:%Y-%m-%d}. {}, {} cores, {}; load average {:.1f} at the start. Commit "
        "{}.\n\nCommand: `{}`\n\nA graph of {} vertices, {} features and hidden units, Adam, no dropout, one "
        "thread "
        "a rank. An epoch is what the worker times: the median of {} in a row, the slowest rank's, the median of "
        "{} "
        "such rounds. A layer's cost is the difference between 4 and 2 layers, halved.\n\n",
        fmt::gmtime(std::time(nullptr)), m.cpu, m.cores, m.mpi, p["load_average"][0].get<double>(),
        p["commit"].get<std::string>().substr(0, 12), command, a.vertices, a.hidden, a.epochs, a.rounds);
}

double layer_us(const json& scheme) {
    const json& layers = scheme.at("layers");
    return 1e6 * (layers[2]["epoch_s"].get<double>() - layers[1]["epoch_s"].get<double>()) / 2;
}

std::string alone(const json& schemes) {
    std::string text =
        "## One rank, µs\n\n| scheme | 1 layer | 2 layers | 4 layers | a layer | goal |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    for (const json& s : schemes) {
        text += fmt::format("| {} |", s.at("scheme").get<std::string>());
        for (const json& l : s.at("layers")) text += fmt::format(" {:.1f} |", 1e6 * l.at("epoch_s").get<double>());
        text += fmt::format(" {:.1f} | {} |\n", layer_us(s), goal_us);
    }
    text += "\nThe last epoch by phase, µs:";
    for (const json& s : schemes)
        for (const auto& [phase, seconds] : s.at("layers").back().at("phases").items())
            if (seconds.get<double>() > 0) text += fmt::format(" {} {:.1f}", phase, 1e6 * seconds.get<double>());
    return text + "\n\n";
}

std::string together(const json& schemes) {
    std::string text =
        "## Two ranks, µs; beside the same calls by MPI alone\n\n"
        "| scheme | layers | epoch | MPI's calls | epoch ÷ calls | goal |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    for (const json& s : schemes)
        for (const json& l : s.at("layers")) {
            const double epoch = l.at("epoch_s"), calls = l.at("calls_s");
            text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.2f} | {} |\n", s.at("scheme").get<std::string>(),
                                l.at("layers").get<int>(), 1e6 * epoch, 1e6 * calls, epoch / calls, goal_ratio);
        }
    return text + "\n";
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench::bench;
    Arguments a;
    gnnbench::CommandLine app("What an epoch costs where there is nearly nothing to compute");
    app.add("--rounds", a.rounds, "of each measurement").within(1, 1000);
    app.add("--epochs", a.epochs, "of a round").within(1, 1'000'000);
    app.add("--vertices", a.vertices, "of the graph").within(8, 1'000'000);
    app.add("--hidden", a.hidden, "units of a layer, and features").within(4, 4096);
    app.add("--output", a.output, "Markdown file to write, beside stdout");
    if (const auto code = app.parse(argc, argv)) return *code;
    std::string command = "bench_epochs";
    for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
    const gnnbench::InterruptGuard guard;  // interrupted, it ends its ranks and removes its files
    try {
        const gnnbench::Mpiexec mpiexec = gnnbench::find_mpiexec();
        std::string text = introduction(mpiexec, command, a);
        text += alone(measured(mpiexec, a, 1, {"serial"}));
        text += together(measured(mpiexec, a, 2, {"cagnet-1d", "sa-1d", "mg-gcn", "plexus-3d"}));
        std::fputs(text.c_str(), stdout);
        if (!a.output.empty() && !(std::ofstream(a.output) << text))
            throw gnnbench::EnvironmentError(fmt::format("cannot write {}", a.output));
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_epochs: %s\n", e.what());
        return 5;
    }
}
