#include "partitioning/measured.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include <malloc.h>

#include <gnnbench/usize.hpp>

namespace gnnbench::bench {
namespace {

double wall_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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

/// Heaviest part ÷ mean part − 1 in entries of rows, each with its diagonal.
double imbalance_of(const GraphView& graph, const Partition& p) {
    std::vector<double> load(usize(p.parts));
    double total = 0;
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        const auto row = graph.indices.subspan(usize(graph.indptr[usize(v)]),
                                               usize(graph.indptr[usize(v) + 1] - graph.indptr[usize(v)]));
        const bool diagonal = std::binary_search(row.begin(), row.end(), static_cast<std::int32_t>(v));
        const double weight = static_cast<double>(row.size()) + (diagonal ? 0 : 1);
        load[usize(p.part_of[usize(v)])] += weight, total += weight;
    }
    return *std::max_element(load.begin(), load.end()) * p.parts / total - 1;
}

}  // namespace

Measured measure(const PluginCatalog& catalog, const std::string& name, const PartitioningCase& c, int seeds,
                 const Settings& settings) {
    const auto partitioner = catalog.partitioner(name);
    const auto declared = catalog.find(PluginKind::partitioner, name).params;
    Params params(declared);
    for (const auto& [key, value] : settings)
        for (const ParamDecl& d : declared)
            if (key == d.name) params.set(d, value);
    const DatasetView data{.name = c.name, .graph = c.view(), .features = {}, .labels = {}, .split = {}};
    std::vector<double> volumes, seconds;
    Measured m;
    for (int seed = 1; seed <= seeds; ++seed) {
        malloc_trim(0);                                 // what an earlier one freed does not hide this one's
        std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
        const std::int64_t before = own_memory("VmRSS");
        const double begin = wall_s();
        const Partition p = partitioner->partition({.dataset = data,
                                                    .model = {},
                                                    .need = {.parts = c.parts},
                                                    .params = params,
                                                    .seed = static_cast<std::uint64_t>(seed)});
        seconds.push_back(wall_s() - begin);
        m.peak_bytes = std::max(m.peak_bytes, own_memory("VmHWM") - before);
        volumes.push_back(static_cast<double>(measure_quality(c.view(), p).connectivity_minus_one));
        m.imbalance = std::max(m.imbalance, imbalance_of(c.view(), p));
    }
    m.volume = static_cast<std::int64_t>(median(volumes));
    m.seconds = median(seconds);
    return m;
}

}  // namespace gnnbench::bench
