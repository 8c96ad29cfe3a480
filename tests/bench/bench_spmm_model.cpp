// bench_spmm_model: times of SpMM in every layer of Plexus' grids, beside the terms of the thesis' regression (section
// 4.1) and the simulated kernel's roofline. results/plexus/spmm-model.py fits and draws them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

#include "kernels/simulated/costs.hpp"
#include "command_line/command_line.hpp"
#include "plugin/loader.hpp"
#include "spec/machine_file.hpp"

namespace gnnbench::bench {
namespace {

/// A graph of the thesis' Table 6.1, scaled; 128 wide hidden layers, as in its chapter 6.
struct Graph {
    const char* name;
    double vertices, entries_per_row;
    std::vector<std::int64_t> widths;  ///< features, hidden, hidden, classes
    int fraction;                      ///< of the vertices
    int ranks;
};
const Graph graphs[] = {
    {"ogbn-products", 2449029, 51.5, {100, 128, 128, 47}, 10, 64},
    {"Reddit", 232965, 493, {602, 128, 128, 41}, 10, 16},
    {"Isolate-3-8M", 8745542, 150.7, {128, 128, 128, 32}, 100, 16},
    {"products-14M", 14249639, 17.2, {128, 128, 128, 32}, 20, 16},
    {"europe_osm", 50912018, 3.12, {128, 128, 128, 32}, 20, 16},
    {"ogbn-papers100M", 111059956, 15.5, {100, 128, 128, 172}, 100, 16},
};

struct Block {
    std::int64_t rows = 0, cols = 0;
    auto operator<=>(const Block&) const = default;
};

/// A shard after double permutation, of a graph whose rows are alike: entries lie anywhere with the same probability.
Csr random_block(const Block& b, double entries_per_row, std::uint64_t seed) {
    Csr a;
    a.rows = b.rows, a.cols = b.cols;
    a.indptr.reserve(usize(b.rows) + 1);
    RandomStream random(seed, Draw::graph);
    std::vector<std::int32_t> row;
    for (std::int64_t r = 0; r < b.rows; ++r) {
        // Rounded at random, so that the mean is exact where rows have fewer than one entry.
        const auto n = static_cast<std::int64_t>(entries_per_row + random.uniform());
        row.clear();
        for (std::int64_t i = 0; i < n; ++i)
            row.push_back(static_cast<std::int32_t>(random.uniform() * static_cast<double>(b.cols)));
        std::ranges::sort(row);
        const auto [first, last] = std::ranges::unique(row);
        row.erase(first, last);
        a.indices.insert(a.indices.end(), row.begin(), row.end());
        a.indptr.push_back(a.nonzeros());
    }
    a.values.assign(a.indices.size(), 0.5);
    return a;
}

/// Of the wall, or of this process's processors: what counts beside other work, with one thread.
double seconds_now(bool wall) {
    timespec t{};
    clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Point {
    double measured_s = 0, roofline_s = 0;
    double flops = 0, forward = 0, backward = 0;  ///< Σ √flops_cost, and that times the penalties
};

class Measurement {
public:
    Measurement(int threads, int rounds, double scale, bool wall, const simulation::Machine& machine)
        : rounds_(rounds),
          scale_(scale),
          wall_(wall),
          costs_(machine, DType::f32, simulated::SpmmModel::roofline, 1) {
        const auto plugin = catalog_.kernel("cpu");
        const auto& declared = catalog_.find(PluginKind::kernel, "cpu").params;
        KernelSetting setting{.threads = threads, .params = Params(declared)};
        const auto format = std::ranges::find_if(
            declared, [](const ParamDecl& p) { return std::string_view(p.name) == "format"; });
        setting.params.set(*format, "untimed");  // by sizes: what the roofline assumes, and quickly made
        backend_ = plugin->create(setting);
    }

    /// Of rank 0 of X × Y × Z: both products of each layer, A's roles cycling (section 3.2).
    Point point(const Graph& g, int x, int y, int z) {
        const auto n = static_cast<std::int64_t>(g.vertices / g.fraction * scale_);
        const int extent[] = {x, y, z};
        constexpr int roles[3][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};  // o, i, d
        Point p;
        for (std::size_t l = 0; l + 1 < g.widths.size(); ++l) {
            const int o = extent[roles[l % 3][0]], i = extent[roles[l % 3][1]], d = extent[roles[l % 3][2]];
            const Block forward{(n + d - 1) / d, (n + o - 1) / o}, backward{forward.cols, forward.rows};
            const std::int64_t width = (g.widths[l] + i - 1) / i;
            const double per_row = g.entries_per_row / o;
            p.measured_s += product(forward, per_row, width, p.roofline_s);
            p.measured_s += product(backward, g.entries_per_row / d, width, p.roofline_s);
            const double f = static_cast<double>(g.widths[l]);
            const double root = std::sqrt(g.entries_per_row * static_cast<double>(n) * f);
            p.flops += root;
            p.forward += root * (static_cast<double>(n) / o) * i / f;
            p.backward += root * (static_cast<double>(n) / d) * i / f;
        }
        return p;
    }

private:
    /// Median seconds; adds the prediction to `roofline_s`.
    double product(const Block& block, double per_row, std::int64_t width, double& roofline_s) {
        const Csr a = random_block(block, per_row, 7);
        roofline_s += costs_.spmm({a.rows, a.cols, a.nonzeros(), width, false}).alone_s;
        const auto prepared = backend_->prepare(a);
        Matrix b = backend_->matrix(a.cols, width), c = backend_->matrix(a.rows, width);
        backend_->fill(b.view(), 0.25);
        std::vector<double> seconds;
        for (int round = -1; round < rounds_; ++round) {
            const double begin = seconds_now(wall_);
            backend_->spmm(*prepared, b.view(), c.view());
            if (round >= 0) seconds.push_back(seconds_now(wall_) - begin);
        }
        std::ranges::sort(seconds);
        return seconds[seconds.size() / 2];
    }

    PluginCatalog catalog_;
    std::unique_ptr<Backend> backend_;
    int rounds_;
    double scale_;
    bool wall_;
    simulated::Costs costs_;
};

void measure(Measurement& measurement) {
    std::puts("graph,ranks,x,y,z,measured_ms,roofline_ms,root_flops,forward,backward");
    for (const Graph& g : graphs)
        for (int x = 1; x <= g.ranks; x *= 2)
            for (int y = 1; x * y <= g.ranks; y *= 2) {
                const int z = g.ranks / (x * y);
                const Point p = measurement.point(g, x, y, z);
                std::printf("%s,%d,%d,%d,%d,%.5g,%.5g,%.6g,%.6g,%.6g\n", g.name, g.ranks, x, y, z,
                            p.measured_s * 1e3, p.roofline_s * 1e3, p.flops, p.forward, p.backward);
                std::fflush(stdout);
            }
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench;
    double scale = 1;
    int threads = 1, rounds = 3;
    std::string machine = "epyc-2-cores", clock = "wall";
    CommandLine app("Times of SpMM on Plexus' grids, a line of CSV for each, beside what models need and predict");
    app.add("--scale", scale, "size of the graphs; 1 is a tenth to a hundredth of the thesis'").within(1e-4, 4.0);
    app.add("--threads", threads, "threads of the cpu kernel").within(1, 1024);
    app.add("--rounds", rounds, "timed turns of every product").within(1, 1000);
    app.add("--clock", clock, "wall time, or processor time, with one thread").one_of({"wall", "cpu"});
    app.add("--machine", machine, "whose roofline predicts: a machine's name or file");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        const simulation::Machine described = load_machine(machine);
        bench::Measurement measurement(threads, rounds, scale, clock == "wall", described);
        bench::measure(measurement);
        return 0;
    } catch (const Error& e) {
        std::fprintf(stderr, "bench_spmm_model: %s\n", e.what());
        return 5;
    }
}
