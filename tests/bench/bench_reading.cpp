// bench_reading: bytes of an edge list read per second, beside one thread that finds each line's end and reads its two
// numbers, and beside Python's readers where a Python with them is given.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <omp.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>
#include <gnnbench/usize.hpp>

#include "data/draws.hpp"
#include "data/file.hpp"
#include "data/importers/edge_lines.hpp"
#include "command_line/command_line.hpp"

namespace gnnbench::bench {
namespace {

/// Lines "u<tab>v" of random vertices from 1 on, as all readers beside ours can take them.
void write_edges(const std::filesystem::path& path, std::int64_t edges, std::int64_t vertices) {
    std::ofstream file(path, std::ios::binary);
    std::string block;
    for (std::int64_t e = 0; e < edges; ++e) {
        const auto words = draw(1, Draw::graph, static_cast<std::uint64_t>(e), 0, DataDraw::edge);
        const auto vertex = [&](std::uint32_t word) {
            return 1 + scaled(word, static_cast<std::uint64_t>(vertices));
        };
        fmt::format_to(std::back_inserter(block), "{}\t{}\n", vertex(words[0]), vertex(words[1]));
        if (block.size() > (1 << 20) || e + 1 == edges) {
            file << block;
            block.clear();
        }
    }
    if (!file.flush()) throw EnvironmentError(fmt::format("cannot write {}", path.string()));
}

/// What a reader has at least to do, without judging what it reads.
ListedIds read_plainly(const std::filesystem::path& path) {
    const MappedFile file(path);
    const auto* at = reinterpret_cast<const char*>(file.bytes().data());
    const char* const end = at + file.bytes().size();
    ListedIds ids;
    const auto number = [&](Ids64& to) {
        std::int64_t value = 0;
        for (; *at >= '0'; ++at) value = value * 10 + (*at - '0');
        to.push_back(value);
    };
    while (at < end) {
        const void* found = std::memchr(at, '\n', usize(end - at));
        const char* line_end = found ? static_cast<const char*>(found) : end;
        number(ids.source);
        ++at;
        number(ids.target);
        at = line_end + 1;
    }
    return ids;
}

double seconds(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double middle(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// One of Python's readers, by name, timed there; 0: it is not there, or failed.
double python_seconds(const std::string& python, const std::string& reader, const std::filesystem::path& path,
                      std::int64_t largest) {
    const std::string command = fmt::format("'{}' '{}/tests/bench/reading/peers.py' {} '{}' {}", python,
                                            GNNBENCH_SOURCE_DIR, reader, path.string(), largest);
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    char line[256];
    double found = 0;
    while (pipe && std::fgets(line, sizeof line, pipe.get()))
        if (double s = 0; std::sscanf(line, "seconds %lf", &s) == 1) found = s;
    return found;
}

struct Settings {
    std::int64_t edges = 20'000'000, vertices = 5'000'000;
    int rounds = 5;
    std::string python;
};

/// Prints a table; false where the two readers do not read the same.
bool compare(const Settings& s) {
    const TemporaryFolder folder("bench");
    const auto path = folder.path() / "edges.txt";
    write_edges(path, s.edges, s.vertices);
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    const std::vector<std::string> peers{"pandas", "numpy", "scipy"};
    std::vector<double> ours, plain;
    std::vector<std::vector<double>> theirs(peers.size());
    bool same = true;
    for (int round = -1; round < s.rounds; ++round) {  // by turns, after one that is not timed
        ListedIds a, b;
        const double ours_s = seconds([&] { a = read_edge_lines(path, {}); });
        const double plain_s = seconds([&] { b = read_plainly(path); });
        same = same && a.source == b.source && a.target == b.target && std::ssize(a.source) == s.edges;
        if (round < 0) continue;
        ours.push_back(ours_s);
        plain.push_back(plain_s);
        for (std::size_t p = 0; p < peers.size() && !s.python.empty(); ++p)
            if (const double t = python_seconds(s.python, peers[p], path, s.vertices); t > 0)
                theirs[p].push_back(t);
    }
    fmt::print("{} edges, {:.0f} MB; {} threads; medians over {} rounds by turns\n\n", s.edges, bytes / 1e6,
               omp_get_max_threads(), s.rounds);
    fmt::print("| reader | seconds | GB/s | ÷ ours |\n| --- | --- | --- | --- |\n");
    const auto row = [&](const std::string& name, const std::vector<double>& times) {
        if (times.empty()) return;
        std::vector<double> ratio;
        for (std::size_t i = 0; i < times.size(); ++i) ratio.push_back(times[i] / ours[i]);
        fmt::print("| {} | {:.3f} | {:.3f} | {:.2f} |\n", name, middle(times), bytes / middle(times) / 1e9,
                   middle(ratio));
    };
    row("edge-list", ours);
    row("memchr and integers, one thread", plain);
    for (std::size_t p = 0; p < peers.size(); ++p) row(peers[p], theirs[p]);
    return same;
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench;
    using namespace gnnbench::bench;
    Settings s;
    CommandLine app{"bytes of an edge list read per second"};
    app.add("--edges", s.edges, "lines of the file").within(1000, 1000000000);
    app.add("--vertices", s.vertices, "numbers are 1 to this").within(2, 1000000000);
    app.add("--rounds", s.rounds, "rounds that are timed").within(1, 1000);
    app.add("--python", s.python, "a Python whose pandas, NumPy and SciPy then read the same file");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        if (compare(s)) return 0;
        std::fprintf(stderr, "bench_reading: the readers do not agree\n");
        return 1;
    } catch (const Error& e) {
        std::fprintf(stderr, "bench_reading: %s\n", e.what());
        return 2;
    }
}
