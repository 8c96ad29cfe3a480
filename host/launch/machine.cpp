#include "launch/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace gnnbench {

namespace {

/// The value of the first line "key<blanks><separator> value" of a file like /proc/cpuinfo or /etc/os-release.
std::string value_in(const std::string& path, const std::string& key, char separator) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        const std::size_t at = line.find(separator);
        if (!line.starts_with(key) || at == std::string::npos) continue;
        if (line.find_first_not_of(" \t", key.size()) != at) continue;
        const std::size_t begin = line.find_first_not_of(" \t\"", at + 1);
        const std::size_t end = line.find_last_not_of(" \t\"");
        return begin == std::string::npos ? "" : line.substr(begin, end + 1 - begin);
    }
    return {};
}

/// CPUs' worth of time that cgroup v2 grants; infinity without a limit.
double cgroup_cpus() {
    std::ifstream in("/sys/fs/cgroup/cpu.max");
    std::string quota;
    double period = 0;
    if (!(in >> quota >> period) || quota == "max" || period <= 0) return INFINITY;
    return std::strtod(quota.c_str(), nullptr) / period;
}

}  // namespace

std::string cpu_model() {
    for (const char* key : {"model name", "Model", "cpu model"})
        if (std::string model = value_in("/proc/cpuinfo", key, ':'); !model.empty()) return model;
    return "unknown CPU";
}

int usable_cores() {
    cpu_set_t set;
    int cores = static_cast<int>(std::thread::hardware_concurrency());
    if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
    if (const double granted = cgroup_cpus(); granted < cores) cores = static_cast<int>(granted);
    return std::max(cores, 1);
}

std::int64_t host_memory_bytes() {
    const auto total =
        static_cast<std::int64_t>(1024 * std::strtod(value_in("/proc/meminfo", "MemTotal", ':').c_str(), nullptr));
    std::ifstream in("/sys/fs/cgroup/memory.max");
    std::int64_t granted = 0;
    return in >> granted && granted > 0 && granted < total ? granted : total;  // "max" is no number
}

Machine this_machine(const Mpiexec& mpiexec) {
    const double memory_kib = std::strtod(value_in("/proc/meminfo", "MemTotal", ':').c_str(), nullptr);
    return {.cpu = cpu_model(),
            .cores = usable_cores(),
            .memory_gib = std::llround(memory_kib / (1 << 20)),
            .mpi = mpiexec.version};
}

nlohmann::json to_json(const Machine& machine) {
    return {
        {"cpu", machine.cpu}, {"cores", machine.cores}, {"memory_gib", machine.memory_gib}, {"mpi", machine.mpi}};
}

nlohmann::json provenance() {
    utsname system{};
    uname(&system);
    double load[3] = {0, 0, 0};
    getloadavg(load, 3);
    const BuildInfo build = build_info();
    return {{"hostname", system.nodename},
            {"kernel", fmt::format("{} {}", system.sysname, system.release)},
            {"os", value_in("/etc/os-release", "PRETTY_NAME", '=')},
            {"load_average", {load[0], load[1], load[2]}},
            {"version", build.version},
            {"commit", build.commit},
            {"compiler", build.compiler},
            {"build_type", build.build_type},
            {"build", build.digest}};
}

}  // namespace gnnbench
