// bench_generators: undirected edges per second of the generators, beside what any of them needs at least: as many
// edges between random vertices, drawn and sorted into rows.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <omp.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "data/draws.hpp"
#include "data/edges.hpp"
#include "data/generators/draw_until.hpp"
#include "data/generators/made_graph.hpp"
#include "data/generate.hpp"
#include "command_line/command_line.hpp"

namespace gnnbench::bench {
namespace {

struct Settings {
    std::int64_t vertices = 500000;
    double average_degree = 28, clustering = 0.25;
    int rounds = 5;
};

/// A generator, or what it is compared with.
struct Candidate {
    std::string name;
    std::function<std::int64_t(int round)> make;  ///< returns stored entries
    std::vector<double> wall_s{};
    std::int64_t entries = 0;
};

RawGraph random_pairs(const Settings& s, int round) {
    const auto edges = usize(static_cast<std::int64_t>(static_cast<double>(s.vertices) * s.average_degree / 2));
    std::vector<std::int32_t> source(edges), target(edges);
#pragma omp parallel for
    for (std::int64_t e = 0; e < std::ssize(source); ++e) {
        const auto words =
            draw(static_cast<std::uint64_t>(round), Draw::graph, static_cast<std::uint64_t>(e), 0, DataDraw::edge);
        source[usize(e)] = static_cast<std::int32_t>(scaled(words[0], static_cast<std::uint64_t>(s.vertices)));
        target[usize(e)] = static_cast<std::int32_t>(scaled(words[1], static_cast<std::uint64_t>(s.vertices)));
    }
    return build_pattern(s.vertices, std::move(source), std::move(target), false);
}

GraphWish wish(const Settings& s, int round) {
    GraphWish w{.profile = log_normal_degrees(s.average_degree, 1, s.vertices / 20),
                .vertices = s.vertices,
                .seed = static_cast<std::uint64_t>(round + 1)};
    set_clustering(w.profile, s.clustering, 0.95);
    return w;
}

std::vector<Candidate> candidates(const Settings& s) {
    const auto entries = [](const RawGraph& g) { return static_cast<std::int64_t>(g.indices.size()); };
    const auto generated = [&s, entries](const char* kind) {
        return [&s, entries, kind](int round) {
            return entries(generate(kind, {{"vertices", s.vertices},
                                           {"average_degree", s.average_degree},
                                           {"features", 1},
                                           {"seed", round + 1}})
                               .graph);
        };
    };
    return {{"random pairs", [=](int round) { return entries(random_pairs(s, round)); }},
            {"bter", [=](int round) { return entries(bter_graph(wish(s, round))); }},
            {"configuration", [=](int round) { return entries(configuration_graph(wish(s, round))); }},
            {"rmat", generated("rmat")},
            {"dcsbm", generated("dcsbm")}};
}

double middle(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// By turns, after one that is not timed. Every round is another seed.
void measure(std::vector<Candidate>& all, int rounds) {
    for (int round = -1; round < rounds; ++round)
        for (auto& c : all) {
            const auto begin = std::chrono::steady_clock::now();
            c.entries = c.make(round + 1);
            const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            if (round >= 0) c.wall_s.push_back(wall_s);
        }
}

std::string table(const std::vector<Candidate>& all) {
    std::string text =
        "| generator | edges | seconds | million edges/s | ÷ random pairs |\n| --- | --- | --- | --- | --- |\n";
    for (const auto& c : all) {
        std::vector<double> ratio;
        for (std::size_t i = 0; i < c.wall_s.size(); ++i)
            ratio.push_back(c.wall_s[i] / all[0].wall_s[i] * static_cast<double>(all[0].entries) /
                            static_cast<double>(c.entries));
        const double edges = static_cast<double>(c.entries) / 2, wall_s = middle(c.wall_s);
        text += fmt::format("| {} | {:.0f} | {:.3f} | {:.2f} | {:.2f} |\n", c.name, edges, wall_s,
                            edges / wall_s / 1e6, middle(ratio));
    }
    return text;
}

/// Whether a graph of these settings has the degrees and the clustering that BTER promises; says both.
bool reached(const Settings& s) {
    const auto report = make_bter(wish(s, 0)).report;
    const double distance = report["degrees"]["kolmogorov_smirnov"], error = report["clustering"]["mean_error"];
    fmt::print(
        "\nbter: Kolmogorov-Smirnov distance of the degrees {:.2g} (goal 0.02), mean error of the clustering by "
        "degree {:.1f}% (goal 10%)\n",
        distance, 100 * error);
    return distance <= 0.02 && error <= 0.1;
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench;
    using namespace gnnbench::bench;
    Settings s;
    std::string output;
    CommandLine app{"edges per second of the generators"};
    app.add("--vertices", s.vertices, "of every graph").within(1000, 1000000000);
    app.add("--degree", s.average_degree, "edges at a vertex, on average").within(1.0, 1000.0);
    app.add("--rounds", s.rounds, "rounds that are timed").within(1, 1000);
    app.add("--output", output, "also write the table to this file");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        auto all = candidates(s);
        measure(all, s.rounds);
        const std::string text = fmt::format("{} vertices, {} threads; medians over {} rounds by turns\n\n{}",
                                             s.vertices, omp_get_max_threads(), s.rounds, table(all));
        fmt::print("{}", text);
        if (!output.empty()) std::ofstream(output) << text;
        return reached(s) ? 0 : 1;
    } catch (const Error& e) {
        std::fprintf(stderr, "bench_generators: %s\n", e.what());
        return 2;
    }
}
