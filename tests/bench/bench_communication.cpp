// bench_communication: what each scheme's communication takes beside the same calls made by plain MPI.
#include <algorithm>
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

constexpr double goal = 1.1;

struct Arguments {
    std::vector<int> ranks{2, 4};
    std::int64_t vertices = 60'000, average_degree = 16, width = 128, classes = 16;
    int rounds = 15;
    std::string only, output;
};

json measured(const Mpiexec& mpiexec, const Arguments& a, int ranks) {
    return by_ranks(mpiexec, "communication_ranks", ranks,
                    {{"graph",
                      {{"vertices", a.vertices},
                       {"average_degree", a.average_degree},
                       {"features", a.width},
                       {"classes", a.classes}}},
                     {"hidden", {a.width, a.width}},
                     {"packed_widths", {16, 64, 128, 256}},
                     {"rounds", a.rounds},
                     {"only", a.only}});
}

double seconds(const json& row, const char* key) { return row.at(key).get<double>(); }

/// One row: bytes and seconds of an epoch, and the ratios that the goals are about.
std::string row(const std::string& scheme, const std::string& operation, const json& r) {
    const double plain = seconds(r, "plain_s");
    return fmt::format("| {} | {} | {:.0f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.2f} | {} |\n", scheme,
                       operation, seconds(r, "calls"), seconds(r, "sent_bytes") / 1e6,
                       1e3 * seconds(r, "shared_s"), 1e3 * seconds(r, "mpi_s"), 1e3 * seconds(r, "non_blocking_s"),
                       1e3 * seconds(r, "blocking_s"), seconds(r, "mpi_s") / plain,
                       seconds(r, "shared_s") > 0 ? fmt::format("{:.2f}", plain / seconds(r, "shared_s")) : "–");
}

void add(json& sum, const json& r) {
    for (auto& [key, value] : sum.items()) value = value.get<double>() + seconds(r, key.c_str());
}

std::string schemes_table(const json& result, bool judged, int& missed) {
    std::string text =
        "| scheme | operation | calls | MB sent | shared ms | mpi ms | non-blocking ms | blocking ms | mpi ÷ "
        "plain | "
        "plain ÷ shared |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    std::string skipped;
    for (const json& scheme : result.at("schemes")) {
        const std::string name = scheme.at("scheme");
        if (scheme.contains("skipped")) {
            skipped += fmt::format("- {}: {}\n", name, scheme["skipped"].get<std::string>());
            continue;
        }
        json all = {{"calls", 0.0},          {"sent_bytes", 0.0}, {"shared_s", 0.0}, {"mpi_s", 0.0},
                    {"non_blocking_s", 0.0}, {"blocking_s", 0.0}, {"plain_s", 0.0}};
        for (const json& r : scheme.at("operations")) {
            if (r.at("operation") == "packing") {
                const bool over = judged && seconds(all, "mpi_s") > goal * seconds(all, "plain_s");
                missed += over;
                text += row(name, over ? "**all: mpi over the goal**" : "**all**", all);
                if (seconds(r, "mpi_s") < 0.01 * seconds(all, "mpi_s")) continue;  // nothing is packed
                text += row(name, "packing", r);
                add(all, r);
                text += row(name, "**with packing**", all);
                continue;
            }
            text += row(name, r.at("operation"), r);
            add(all, r);
        }
    }
    return text + (skipped.empty() ? "" : "\nNot run:\n" + skipped);
}

std::string packing_table(const json& result) {
    std::string text =
        "| partitioner | width | rows | MB | packed GB/s | memcpy GB/s | packing ÷ memcpy | adding ÷ memcpy |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const auto& [partitioner, rows] : result.at("packing").items())
        for (const json& r : rows) {
            const double mb = seconds(r, "bytes") / 1e6, copy = seconds(r, "copy_s");
            text += fmt::format("| {} | {} | {:.0f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", partitioner,
                                r.at("width").get<int>(), seconds(r, "rows"), mb, mb / 1e3 / seconds(r, "pack_s"),
                                mb / 1e3 / copy, seconds(r, "pack_s") / copy, seconds(r, "add_s") / copy);
        }
    return text;
}

std::string epochs_table(const json& result) {
    std::string text =
        "| scheme | shared epoch ms | exposed ms | mpi epoch ms | exposed ms | epochs, mpi ÷ shared |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    for (const json& r : result.at("epochs"))
        if (!r.contains("skipped"))
            text += fmt::format("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n",
                                r.at("scheme").get<std::string>(), 1e3 * seconds(r, "shared_s"),
                                1e3 * seconds(r, "shared_exposed_s"), 1e3 * seconds(r, "mpi_s"),
                                1e3 * seconds(r, "mpi_exposed_s"), seconds(r, "mpi_s") / seconds(r, "shared_s"));
    return text;
}

std::string latency_table(const json& result) {
    std::string text =
        "| operation | bytes | shared µs | mpi µs | plain µs | shared ÷ plain | mpi ÷ plain |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const json& r : result.at("latency")) {
        const double plain = seconds(r, "plain_s");
        text += fmt::format("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n",
                            r.at("operation").get<std::string>(), r.at("bytes").get<int>(),
                            1e6 * seconds(r, "shared_s"), 1e6 * seconds(r, "mpi_s"), 1e6 * plain,
                            seconds(r, "shared_s") / plain, seconds(r, "mpi_s") / plain);
    }
    return text;
}

std::string introduction(const Mpiexec& mpiexec, const Arguments& a, const std::string& command) {
    const Machine m = this_machine(mpiexec);
    const json p = provenance();
    return fmt::format(
        "# Communication of each scheme beside plain MPI\n\n"
        "{:%Y-%m-%d}. {}, {} cores, {} GiB, {}; load average {:.1f} at the start. Commit {}.\n\nCommand: `{}`\n\n"
        "Every exact scheme trains on one generated graph (dcsbm, {} vertices, average degree {}), {} features, "
        "two hidden "
        "layers of {}, {} classes, partitioner random, kernel cpu, one thread a rank. A barrier before each "
        "operation; each is "
        "complete before its caller goes on, so nothing is hidden. Epochs take turns: `shared` is the transport "
        "through "
        "memory that ranks share, `mpi` ours over MPI, and in further epochs of the latter MPI alone makes each "
        "call in "
        "its place, on the same memory with the same caches: `non-blocking` is the non-blocking call and "
        "MPI_Wait, "
        "`blocking` the blocking function, and plain the faster of the two for an operation. `packing` is the "
        "copying of "
        "rows before and after messages, which plain MPI needs as `mpi` does. Times, calls and bytes are of one "
        "epoch, "
        "means over ranks, of each call the best of {} rounds, of packing the best epoch. The goal is mpi ÷ plain "
        "≤ {} "
        "for all operations of a scheme together, where there is a core for every rank.\n",
        fmt::gmtime(std::time(nullptr)), m.cpu, m.cores, m.memory_gib, m.mpi, p["load_average"][0].get<double>(),
        p["commit"].get<std::string>().substr(0, 12), command, a.vertices, a.average_degree, a.width, a.width,
        a.classes, a.rounds, goal);
}

/// Prints and returns the report; `missed` counts schemes over the goal, `wrong` those whose bytes were not as
/// stated.
std::string report(const Mpiexec& mpiexec, const Arguments& a, const std::string& command, int& missed,
                   int& wrong) {
    std::string text = introduction(mpiexec, a, command);
    const int cores = usable_cores();
    for (const int ranks : a.ranks) {
        const json result = measured(mpiexec, a, ranks);
        const bool judged = ranks <= cores;
        text += fmt::format("\n## {} ranks{}\n\n{}", ranks,
                            judged ? "" : fmt::format(" on {} cores: reported, not judged", cores),
                            schemes_table(result, judged, missed));
        text += fmt::format(
            "\nPacking rows for the sparsity-aware schemes, all ranks at once, beside memcpy of the same bytes; "
            "adding is the sum of returned rows into their places, which also reads them:\n\n{}",
            packing_table(result));
        text += fmt::format(
            "\nWhole epochs, without barriers, as a trial runs them; what is exposed is the phases `comm` and "
            "`pack`, in "
            "which no product runs:\n\n{}",
            epochs_table(result));
        text += fmt::format(
            "\nSmall operations in their blocking form, one after another without barriers, with all that a "
            "communicator "
            "does (counting, spans), beside bare `MPI_Allreduce` and `MPI_Bcast`:\n\n{}",
            latency_table(result));
        for (const json& s : result.at("schemes"))
            if (!s.contains("skipped") && !s.at("volume_differs").get<std::string>().empty()) {
                ++wrong;
                text += fmt::format("\nWRONG: {} moved other bytes than it states: {}\n",
                                    s["scheme"].get<std::string>(), s["volume_differs"].get<std::string>());
            }
    }
    return text;
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench::bench;
    Arguments a;
    gnnbench::CommandLine app("What each scheme's communication takes beside the same calls made by plain MPI");
    app.add("--ranks", a.ranks, "numbers of ranks").within(2, 1024);
    app.add("--vertices", a.vertices, "of the graph").within(64, 100'000'000);
    app.add("--degree", a.average_degree, "of the graph, on average").within(1, 1000);
    app.add("--width", a.width, "features, and columns of hidden layers").within(1, 4096);
    app.add("--rounds", a.rounds, "timed epochs of each scheme").within(1, 1000);
    app.add("--scheme", a.only, "one scheme");
    app.add("--output", a.output, "Markdown file to write, beside stdout");
    if (const auto code = app.parse(argc, argv)) return *code;
    std::string command = "bench_communication";
    for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
    const gnnbench::InterruptGuard guard;  // interrupted, it ends its ranks and removes its files
    try {
        int missed = 0, wrong = 0;
        const std::string text = report(gnnbench::find_mpiexec(), a, command, missed, wrong);
        std::fputs(text.c_str(), stdout);
        if (!a.output.empty() && !(std::ofstream(a.output) << text))
            throw gnnbench::EnvironmentError(fmt::format("cannot write {}", a.output));
        if (missed > 0) std::fprintf(stderr, "bench_communication: %d schemes are over the goal\n", missed);
        return wrong > 0 ? 1 : 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_communication: %s\n", e.what());
        return 5;
    }
}
