#include "partitioning/measured.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include <malloc.h>
#include <sys/resource.h>

#include <gnnbench/usize.hpp>

namespace gnnbench::bench {
namespace {

double wall_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_s() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// A line of /proc/self/status, in bytes.
std::int64_t own_memory(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key + ":")) return 1024 * std::stoll(line.substr(key.size() + 1));
    return 0;
}

}  // namespace

void judge(Measured& m, const PartitioningCase& c, const Partition& partition) {
    const PartitionQuality quality = measure_quality(c.view(), partition);
    m.volume = quality.connectivity_minus_one;
    m.cut = quality.edge_cut / 2;  // cases are undirected: both entries of an edge count there
    m.imbalance = quality.nonzero_imbalance - 1;
}

double ratio(std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(std::max<std::int64_t>(1, b));
}

Measured measure(const PluginCatalog& catalog, const std::string& name, const PartitioningCase& c, int seed,
                 const Settings& settings) {
    const auto partitioner = catalog.partitioner(name);
    const auto declared = catalog.find(PluginKind::partitioner, name).params;
    Params params(declared);
    for (const auto& [key, value] : settings)
        for (const ParamDecl& d : declared)
            if (key == d.name) params.set(d, value);
    const DatasetView data{.name = c.name, .graph = c.view(), .features = {}, .labels = {}, .split = {}};
    malloc_trim(0);                                 // what an earlier run freed does not hide this one's
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
    const std::int64_t before = own_memory("VmRSS");
    const double begin = wall_s(), cpu_begin = cpu_s();
    const Partition p = partitioner->partition({.dataset = data,
                                                .model = {},
                                                .need = {.parts = c.parts},
                                                .params = params,
                                                .seed = static_cast<std::uint64_t>(seed)});
    Measured m{
        .wall_s = wall_s() - begin, .cpu_s = cpu_s() - cpu_begin, .peak_bytes = own_memory("VmHWM") - before};
    judge(m, c, p);
    return m;
}

Measured summary(const std::vector<Measured>& runs) {
    const auto median_of = [&](auto&& number) {
        std::vector<double> values;
        for (const Measured& m : runs) values.push_back(static_cast<double>(number(m)));
        return median(values);
    };
    Measured s{.volume = static_cast<std::int64_t>(median_of([](const Measured& m) { return m.volume; })),
               .cut = static_cast<std::int64_t>(median_of([](const Measured& m) { return m.cut; })),
               .wall_s = median_of([](const Measured& m) { return m.wall_s; }),
               .cpu_s = median_of([](const Measured& m) { return m.cpu_s; })};
    for (const Measured& m : runs) {
        s.imbalance = std::max(s.imbalance, m.imbalance);
        s.peak_bytes = std::max(s.peak_bytes, m.peak_bytes);
    }
    return s;
}

double graph_bytes(const PartitioningCase& c) {
    return 8.0 * static_cast<double>(c.graph.indptr.size()) + 4.0 * static_cast<double>(c.graph.indices.size());
}

}  // namespace gnnbench::bench
