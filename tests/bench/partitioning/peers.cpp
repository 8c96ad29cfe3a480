#include "partitioning/peers.hpp"

#include <cstdio>
#include <fstream>
#include <memory>
#include <span>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::bench {
namespace {

template <typename T>
void append(std::ofstream& file, std::span<const T> values) {
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

void write_graph(const PartitioningCase& c, const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    const std::int64_t sizes[2] = {c.graph.rows, c.graph.nonzeros()};
    append(file, std::span<const std::int64_t>(sizes));
    append(file, std::span<const std::int64_t>(c.graph.indptr));
    append(file, std::span<const std::int32_t>(c.graph.indices));
    if (!file) throw EnvironmentError(fmt::format("cannot write {}", path));
}

/// What a command says of itself in a line "cpu_s …", among whatever else it prints.
double cpu_seconds_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    char line[256];
    double seconds = 0;
    bool found = false;
    while (pipe && std::fgets(line, sizeof line, pipe.get()))
        found = found || std::sscanf(line, "cpu_s %lf", &seconds) == 1;
    if (!found) throw EnvironmentError("this failed: " + command);
    return seconds;
}

}  // namespace

Measured measure_peer(const Peer& peer, const PartitioningCase& c, double imbalance, int seed,
                      const std::string& preset) {
    const TemporaryFolder folder("bench");
    const std::string graph = folder.path() / "graph", parts = folder.path() / "parts";
    write_graph(c, graph);
    Measured m{.cpu_s = cpu_seconds_of(fmt::format(
                   "'{}' '{}/tests/bench/partitioning/peers_run.py' {} '{}' '{}' {} {} {} {}", peer.python,
                   GNNBENCH_SOURCE_DIR, peer.module, graph, parts, c.parts, imbalance, seed, preset))};
    Partition partition{.parts = c.parts, .part_of = std::vector<Part>(usize(c.graph.rows)), .column_part_of = {}};
    std::ifstream file(parts, std::ios::binary);
    file.read(reinterpret_cast<char*>(partition.part_of.data()),
              static_cast<std::streamsize>(partition.part_of.size() * sizeof(Part)));
    if (!file)
        throw EnvironmentError(fmt::format("{} left no part for each of {} vertices", peer.module, c.graph.rows));
    judge(m, c, partition);
    return m;
}

}  // namespace gnnbench::bench
