#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "plain.hpp"
#include "timing.hpp"

namespace gnnbench::bench {
namespace {

std::string field(const std::string& file, const std::string& key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.rfind(key, 0) == 0) {
            const auto from = line.find_first_not_of(" \t", line.find(':') + 1);
            return from == std::string::npos ? "" : line.substr(from);
        }
    return "unknown";
}

std::string word(const std::string& file) {
    std::string out;
    std::ifstream(file) >> out;
    return out.empty() ? "unknown" : out;
}

}  // namespace

double triad_rate(const Options& o) {
    const auto count = std::max<std::int64_t>(1 << 16, static_cast<std::int64_t>(o.rows_of(64e6)));
    std::vector<float> a(static_cast<std::size_t>(count)), b(a.size(), 1), c(a.size(), 2);
    const auto s = take_turns(o, {[&] { triad(a.data(), b.data(), c.data(), count, o.threads); }});
    return 12.0 * static_cast<double>(count) / *std::min_element(s[0].begin(), s[0].end());
}

std::string machine_facts(const Options& o) {
    const std::string cache = "/sys/devices/system/cpu/cpu0/cache/index";
    double load = 0;
    std::ifstream("/proc/loadavg") >> load;
    return fmt::format(
        "{:%Y-%m-%d}. {}, {} threads, L2 {}, L3 {}, memory {}; load average {:.1f} at the start. Seconds are of "
        "{}; "
        "{} rounds, candidates in turns, ratios are medians over rounds. Triad: {:.1f} GB/s.",
        fmt::gmtime(std::time(nullptr)), field("/proc/cpuinfo", "model name"), o.threads, word(cache + "2/size"),
        word(cache + "3/size"), field("/proc/meminfo", "MemTotal"), load,
        o.clock == Clock::wall ? "the wall" : "this process's processors ÷ threads (the machine was not idle)",
        o.rounds, triad_rate(o) / 1e9);
}

}  // namespace gnnbench::bench
