// bench_kernels: speed of the cpu kernel's SpMM, GEMM and element-wise passes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "timing.hpp"

namespace gnnbench::bench {

double seconds_now(const Options& o) {
    timespec t{};
    clock_gettime(o.clock == Clock::wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    const double s = static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    return o.clock == Clock::wall ? s : s / o.threads;
}

std::vector<std::vector<double>> take_turns(const Options& o,
                                            const std::vector<std::function<void()>>& candidates) {
    std::vector<std::vector<double>> seconds(candidates.size());
    for (int round = -1; round < o.rounds; ++round)
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const double begin = seconds_now(o);
            candidates[i]();
            if (round >= 0) seconds[i].push_back(seconds_now(o) - begin);
        }
    return seconds;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double median_ratio(const std::vector<double>& base, const std::vector<double>& other) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < base.size(); ++i) ratios.push_back(base[i] / other[i]);
    return median(ratios);
}

void Report::line(const std::string& l) {
    text += l + "\n";
    std::fprintf(stderr, "%s\n", l.c_str());
}

}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench::bench;
    Options o;
    o.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    std::string output, instructions, clock = "wall";
    CLI::App app("Speed of the cpu kernel beside a plain loop, the libraries, and this machine's memory");
    app.add_option("--scale", o.scale, "size of the graphs and matrices; 1 is the full one")
        ->check(CLI::Range(1e-4, 4.0));
    app.add_option("--threads", o.threads, "threads of every candidate")->check(CLI::Range(1, 1024));
    app.add_option("--rounds", o.rounds, "timed turns of every candidate")->check(CLI::Range(1, 1000));
    app.add_option("--widths", o.widths, "columns of B in SpMM")->delimiter(',')->check(CLI::Range(1, 4096));
    app.add_option("--only", o.only, "one part")
        ->check(CLI::IsMember({"spmm", "formats", "blocks", "gemm", "elementwise"}));
    app.add_option("--graph", o.graph, "one of SpMM's graphs")->check(CLI::IsMember({"dense", "sparse", "mesh"}));
    app.add_option("--caches", o.caches, "KiB of cache that formats are cut for (part formats)")
        ->delimiter(',')
        ->check(CLI::Range(64, 1 << 20));
    app.add_option("--other", o.other, "folder with another build's plugins, by turns with this one's (part spmm)")
        ->check(CLI::ExistingDirectory);
    app.add_option("--format", o.format, "of sparse matrices (part spmm)");
    app.add_option("--formats", o.formats, "these alone, by name, and no choices (part formats)")->delimiter(',');
    app.add_option("--degrees", o.degrees, "draws of a row of the dense graph, by turns (part formats)")
        ->delimiter(',')
        ->check(CLI::Range(1.0, 1e4));
    app.add_option("--instructions", instructions, "at most these vector instructions")
        ->check(CLI::IsMember({"avx2"}));
    app.add_option("--clock", clock, "wall time, or processor time ÷ threads")
        ->check(CLI::IsMember({"wall", "cpu"}));
    app.add_option("--output", output, "Markdown file to write, beside stdout");
    CLI11_PARSE(app, argc, argv);
    if (!instructions.empty()) setenv("GNNBENCH_CPU_INSTRUCTIONS", instructions.c_str(), 1);
    o.clock = clock == "cpu" ? Clock::cpu : Clock::wall;

    try {
        Report report;
        std::string command;
        for (int i = 0; i < argc; ++i) command += fmt::format("{}{}", i ? " " : "", i ? argv[i] : "bench_kernels");
        report.line(
            fmt::format("# Speed of the `cpu` kernel\n\n{}\n\nCommand: `{}`\n", machine_facts(o), command));
        const auto wanted = [&](const char* part) { return o.only.empty() || o.only == part; };
        if (wanted("spmm")) bench_spmm(o, report);
        if (o.only == "formats") bench_formats(o, report);  // long, and of interest where formats change
        if (wanted("blocks")) bench_blocks(o, report);
        if (wanted("gemm")) bench_gemm(o, report);
        if (wanted("elementwise")) bench_elementwise(o, report);
        std::fputs(report.text.c_str(), stdout);
        if (!output.empty() && !(std::ofstream(output) << report.text)) {
            std::fprintf(stderr, "bench_kernels: cannot write %s\n", output.c_str());
            return 5;
        }
        if (!report.agrees)
            std::fprintf(stderr, "bench_kernels: a result differs from the plain loop's; see above\n");
        return report.agrees ? 0 : 1;
    } catch (const gnnbench::Error& e) {
        std::fprintf(stderr, "bench_kernels: %s\n", e.what());
        return 5;
    }
}
