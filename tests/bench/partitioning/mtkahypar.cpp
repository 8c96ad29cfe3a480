#include "partitioning/mtkahypar.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>

namespace gnnbench::bench {

std::optional<OtherResult> run_mtkahypar(const std::string& python, const PartitioningCase& c, double imbalance,
                                         int seeds, const std::string& preset) {
    if (python.empty()) return std::nullopt;
    const TemporaryFolder folder("bench");
    const auto path = folder.path() / "graph";
    {
        std::ofstream file(path, std::ios::binary);
        const std::int64_t sizes[2] = {c.graph.rows, c.graph.nonzeros()};
        file.write(reinterpret_cast<const char*>(sizes), sizeof sizes);
        file.write(reinterpret_cast<const char*>(c.graph.indptr.data()),
                   static_cast<std::streamsize>(c.graph.indptr.size() * sizeof(std::int64_t)));
        file.write(reinterpret_cast<const char*>(c.graph.indices.data()),
                   static_cast<std::streamsize>(c.graph.indices.size() * sizeof(std::int32_t)));
        if (!file) throw EnvironmentError(fmt::format("cannot write {}", path.string()));
    }
    const std::string command =
        fmt::format("'{}' '{}/tests/bench/partitioning/mtkahypar_run.py' '{}' {} {} {} {}", python,
                    GNNBENCH_SOURCE_DIR, path.string(), c.parts, imbalance, seeds, preset);
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    OtherResult result;
    long long volume = 0;
    char line[256];
    bool found = false;
    while (pipe && std::fgets(line, sizeof line, pipe.get()))
        found = found || std::sscanf(line, "result %lld %lf", &volume, &result.cpu_s) == 2;
    result.volume = volume;
    return found ? std::optional(result) : std::nullopt;
}

}  // namespace gnnbench::bench
