// Sparse times dense on a device: our kernels and cuSPARSE's best, and both against the bytes that must move at the
// speed at which the device copies. Times are the device's own, from the kernel's trace. Knows kernels only as
// plugins.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/backend.hpp>

#include "graphs.hpp"
#include "command_line/command_line.hpp"
#include "plugin/loader.hpp"

namespace gnnbench::bench {
namespace {

struct Settings {
    std::string backend = "cuda";
    double scale = 1;
    int rounds = 5;
    std::vector<std::int64_t> widths = {16, 32, 41, 47, 64, 128, 256, 512};
    std::vector<std::string> ways = {"rows", "balanced", "panels", "cusparse", "auto"};
    std::vector<int> graphs = {0, 1, 2, 3, 4};
};

/// This machine has no device, say; what goes wrong on one is an error.
struct NotServed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::unique_ptr<Backend> make_backend(const PluginCatalog& catalog, const Settings& s, const std::string& spmm,
                                      std::vector<std::int64_t> widths) {
    const auto about = catalog.find(PluginKind::kernel, s.backend);
    KernelSetting setting{.params = Params(about.params), .widths = std::move(widths)};
    for (const ParamDecl& p : about.params)
        if (std::string(p.name) == "spmm" && !spmm.empty()) setting.params.set(p, spmm);
    const auto plugin = catalog.kernel(s.backend);
    if (const std::string why = plugin->why_unsupported(setting); !why.empty()) throw NotServed(why);
    std::fprintf(stderr, "gpu_spmm: %s\n", plugin->device_name(setting).c_str());
    return plugin->create(setting);
}

/// The median of the seconds that `work` takes on the device. A round does it so often that what the host takes to start
/// the first one counts little. Two rounds of one come before: they warm up, and say how often.
double seconds(Backend& k, int rounds, auto&& work) {
    constexpr double round_s = 3e-3;
    constexpr double most = 100;
    std::vector<double> all;
    int times = 1;
    for (int r = 0; r <= rounds + 1; ++r) {
        k.trace().begin_epoch();
        for (int i = 0; i < times; ++i) work();
        k.trace().end_epoch();
        const auto& spans = k.trace().spans();
        const double each = (spans.back().end_s - spans.front().begin_s) / times;
        if (r > 1)
            all.push_back(each);
        else if (r == 1)
            times = static_cast<int>(std::clamp(round_s / std::max(each, 1e-9), 1.0, most));
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

/// Bytes per second of a copy that no cache holds.
double copy_speed(Backend& k, const Settings& s) {
    const auto rows = static_cast<std::int64_t>(std::max(1000.0, 2e6 * s.scale));
    const Matrix from = k.matrix(rows, 128), to = k.matrix(rows, 128);
    k.fill(from, 1);
    return 2.0 * static_cast<double>(from.view().bytes()) / seconds(k, s.rounds, [&] { k.copy(from, to); });
}

struct Graph {
    std::string name;
    Csr a;
};

std::int64_t at_least_64(double n) { return std::max<std::int64_t>(64, static_cast<std::int64_t>(n)); }

Graph graph(int i, double scale) {
    const auto community_count = [](std::int64_t n, std::int64_t size) {
        return std::max<std::int64_t>(1, n / size);
    };
    if (i == 0) {
        const std::int64_t n = at_least_64(500'000 * scale);
        return {"power law", power_law({.vertices = n,
                                        .average_degree = 50,
                                        .exponent = 2.2,
                                        .widest = 2000,
                                        .communities = 1,
                                        .inside = 0})};
    }
    if (i == 1) return {"mesh", mesh(at_least_64(1000 * std::sqrt(scale)))};
    if (i == 2) {
        const std::int64_t n = at_least_64(120'000 * scale);
        return {"dense communities", power_law({.vertices = n,
                                                .average_degree = std::min(300.0, static_cast<double>(n) / 4),
                                                .exponent = 3,
                                                .widest = 10,
                                                .communities = community_count(n, 2000),
                                                .inside = 0.9})};
    }
    if (i == 4) {
        const std::int64_t n = at_least_64(58'000 * scale);
        return {"dense", power_law({.vertices = n,
                                    .average_degree = std::min(490.0, static_cast<double>(n) / 4),
                                    .exponent = 3,
                                    .widest = 10,
                                    .communities = 1,
                                    .inside = 0})};
    }
    // Half of the vertices are asked by all, and ask nobody themselves.
    const std::int64_t n = at_least_64(400'000 * scale);
    Csr a = power_law(
        {.vertices = n, .average_degree = 60, .exponent = 2.5, .widest = 500, .communities = 1, .inside = 0});
    Csr b;
    b.rows = a.rows;
    b.cols = a.cols;
    for (std::int64_t r = 0; r < a.rows; ++r) {
        for (std::int64_t p = a.indptr[static_cast<std::size_t>(r)];
             r % 2 == 0 && p < a.indptr[static_cast<std::size_t>(r) + 1]; ++p)
            if (a.indices[static_cast<std::size_t>(p)] % 2 == 1) {
                b.indices.push_back(a.indices[static_cast<std::size_t>(p)]);
                b.values.push_back(a.values[static_cast<std::size_t>(p)]);
            }
        b.indptr.push_back(std::ssize(b.indices));
    }
    return {"bipartite", std::move(b)};
}

/// What a product must move at least: the matrix, B and C once each.
double least_bytes(const Csr& a, std::int64_t width, std::int64_t element) {
    const double dense = static_cast<double>((a.rows + a.cols) * width * element);
    return static_cast<double>(a.nonzeros()) * static_cast<double>(4 + element) + static_cast<double>(a.rows) * 8 +
           dense;
}

/// Seconds by width of one way to multiply, and what it chose.
struct Column {
    std::map<std::int64_t, double> seconds;
    std::string format;
};

Column measure(const PluginCatalog& catalog, const Settings& s, const Csr& a, const std::string& way) {
    const auto backend = make_backend(catalog, s, way, s.widths);
    const auto prepared = backend->prepare(a);
    Column c;
    c.format = prepared->format;
    for (const std::int64_t w : s.widths) {
        const Matrix b = backend->matrix(a.cols, w), out = backend->matrix(a.rows, w);
        backend->fill(b, 0.5);
        c.seconds[w] = seconds(*backend, s.rounds, [&] { backend->spmm(*prepared, b, out); });
    }
    return c;
}

void run(const Settings& s) {
    const PluginCatalog catalog;
    const auto first = make_backend(catalog, s, "", {});
    const double speed = copy_speed(*first, s);
    const auto element = static_cast<std::int64_t>(size_of(first->dtype()));
    const bool has_ways = !catalog.find(PluginKind::kernel, s.backend).params.empty() && s.backend == "cuda";
    const std::vector<std::string> ways = has_ways ? s.ways : std::vector<std::string>{""};
    const bool compares = has_ways && s.ways.size() == 5;
    fmt::print(
        "copies run at {:.0f} GB/s; ms by width, and the last one's time ÷ the time of the bytes that must "
        "move\n\n",
        speed / 1e9);
    double log_gain = 0, log_bound = 0;
    int cases = 0;
    for (const int i : s.graphs) {
        const Graph g = graph(i, s.scale);
        fmt::print("{}: {} rows, {} nonzeros\n", g.name, g.a.rows, g.a.nonzeros());
        std::map<std::string, Column> columns;
        for (const std::string& way : ways) columns[way] = measure(catalog, s, g.a, way);
        for (const std::int64_t w : s.widths) {
            std::string line = fmt::format("{:>6}", w);
            for (const std::string& way : ways)
                line += fmt::format("  {} {:9.3f}", way, columns[way].seconds[w] * 1e3);
            const double ours = columns[ways.back()].seconds[w], bound = least_bytes(g.a, w, element) / speed;
            line += fmt::format("  of bound {:5.2f}", ours / bound);
            if (compares) {
                const double gain = columns["cusparse"].seconds[w] /
                                    std::min({columns["rows"].seconds[w], columns["balanced"].seconds[w],
                                              columns["panels"].seconds[w]});
                line += fmt::format("  cuSPARSE / ours {:5.2f}", gain);
                log_gain += std::log(gain);
            }
            log_bound += std::log(ours / bound);
            ++cases;
            fmt::print("{}\n", line);
        }
        for (const std::string& way : ways) fmt::print("  {}: {}\n", way, columns[way].format);
    }
    fmt::print("\ngeometric means: time of the bound {:.2f} (goal 1.5)", std::exp(log_bound / cases));
    if (compares) fmt::print(", cuSPARSE's best / our kernels {:.2f} (goal 1.2)", std::exp(log_gain / cases));
    fmt::print("\n");
}

}  // namespace
}  // namespace gnnbench::bench

int main(int argc, char** argv) {
    using namespace gnnbench;
    bench::Settings s;
    CommandLine app("Sparse times dense on a GPU, by our kernels and cuSPARSE");
    app.add("--kernel", s.backend, "Another kernel, to try this program where there is no GPU");
    app.add("--scale", s.scale, "Of the graphs' rows").positive();
    app.add("--rounds", s.rounds, "Timed runs; the median counts").positive();
    app.add("--widths", s.widths, "Columns of B");
    app.add("--ways", s.ways, "Of rows, balanced, panels, cusparse and auto; all are compared")
        .one_of({"rows", "balanced", "panels", "cusparse", "auto"});
    app.add("--graphs", s.graphs,
            "0 power law, 1 mesh, 2 dense communities, 3 bipartite, 4 dense without communities")
        .within(0, 4);
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        bench::run(s);
    } catch (const bench::NotServed& e) {
        std::printf("gpu_spmm: skipped: %s\n", e.what());
        return 77;
    } catch (const Error& e) {
        std::fprintf(stderr, "gpu_spmm: %s\n", e.what());
        return 5;
    }
    return 0;
}
