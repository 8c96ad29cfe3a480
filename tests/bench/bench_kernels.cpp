// bench_kernels: speed of the cpu kernel's SpMM, attention, GEMM and element-wise passes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "command_line/command_line.hpp"
#include "core/blas_processor.hpp"
#include "core/subnormals.hpp"
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
        for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
            // There and back: what a candidate follows, and what that leaves in the caches, is not always the same.
            const std::size_t i = round % 2 == 0 ? turn : candidates.size() - 1 - turn;
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

namespace {

/// OpenBLAS, which this program links, has chosen its kernels by now: begins once more, with the name that a worker gives it.
void restart_with_blas_processor(char** argv) {
    if (std::getenv("OPENBLAS_CORETYPE")) return;
    gnnbench::name_blas_processor();
    if (std::getenv("OPENBLAS_CORETYPE")) execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace gnnbench::bench;
    restart_with_blas_processor(argv);
    gnnbench::flush_subnormals();
    Options o;
    o.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    std::string output, instructions, clock = "wall";
    gnnbench::CommandLine app(
        "Speed of the cpu kernel beside a plain loop, the libraries, and this machine's memory");
    app.add("--scale", o.scale, "size of the graphs and matrices; 1 is the full one").within(1e-4, 4.0);
    app.add("--threads", o.threads, "threads of every candidate").within(1, 1024);
    app.add("--rounds", o.rounds, "timed turns of every candidate").within(1, 1000);
    app.add("--widths", o.widths, "columns of B in SpMM").within(1, 4096);
    app.add("--only", o.only, "one part")
        .one_of({"spmm", "attention", "formats", "blocks", "gemm", "elementwise"});
    app.add("--graph", o.graph, "one of SpMM's graphs").one_of({"dense", "sparse", "mesh"});
    app.add("--caches", o.caches, "KiB of cache that formats are cut for (part formats)").within(64, 1 << 20);
    app.add("--other", o.other, "folder with another build's plugins, by turns with this one's (part spmm)")
        .existing_folder();
    app.add("--format", o.format, "of sparse matrices (part spmm)");
    app.add("--formats", o.formats, "these alone, by name, and no choices (part formats)");
    app.add("--degrees", o.degrees, "draws of a row of the dense graph, by turns (part formats)").within(1.0, 1e4);
    app.add("--instructions", instructions, "at most these vector instructions").one_of({"avx2"});
    app.add("--clock", clock, "wall time, or processor time ÷ threads").one_of({"wall", "cpu"});
    app.add("--output", output, "Markdown file to write, beside stdout");
    if (const auto code = app.parse(argc, argv)) return *code;
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
        if (wanted("attention")) bench_attention(o, report);
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
