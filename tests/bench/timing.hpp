#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gnnbench::bench {

enum class Clock { wall, cpu };

struct Options {
    double scale = 1;
    int threads = 1, rounds = 5;
    Clock clock = Clock::wall;
    std::vector<long> widths{16, 32, 41, 64, 128, 256, 512};
    std::string only, graph;
    std::string other;  ///< folder with the plugins of another build, to be timed by turns with this one's
    std::string format = "auto";       ///< of both (part spmm)
    std::vector<long> caches;          ///< KiB for which formats are cut
    std::vector<std::string> formats;  ///< that alone are timed, by name; none: all, and what is chosen
    std::vector<double> degrees;       ///< of the dense graph in place of its own
    double rows_of(double full) const { return full * scale; }
};

/// Seconds: of the wall, or of this process's processors ÷ threads.
double seconds_now(const Options& o);

/// seconds[candidate][round]; candidates take turns, after one turn each that is not timed.
std::vector<std::vector<double>> take_turns(const Options& o,
                                            const std::vector<std::function<void()>>& candidates);
double median(std::vector<double> values);
/// Median over rounds of base[round] ÷ other[round].
double median_ratio(const std::vector<double>& base, const std::vector<double>& other);

/// The report's lines, and whether every result agreed.
struct Report {
    std::string text;
    bool agrees = true;
    void line(const std::string& l);  ///< to the text, and to stderr as progress
};

/// Bytes per second of a triad over arrays far larger than the caches.
double triad_rate(const Options& o);
std::string machine_facts(const Options& o);
void bench_spmm(const Options& o, Report& report);
void bench_attention(const Options& o, Report& report);
void bench_formats(const Options& o, Report& report);
void bench_blocks(const Options& o, Report& report);
void bench_elementwise(const Options& o, Report& report);
void bench_gemm(const Options& o, Report& report);

}  // namespace gnnbench::bench
