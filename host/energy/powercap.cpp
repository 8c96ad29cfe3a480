#include "energy/powercap.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

namespace fs = std::filesystem;

/// The first word of a small file of sysfs.
std::string first_word(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    const int opening = errno;
    char text[128] = {};
    const ssize_t size = descriptor < 0 ? -1 : ::read(descriptor, text, sizeof text - 1);
    const int cause = descriptor < 0 ? opening : errno;
    if (descriptor >= 0) ::close(descriptor);
    if (size < 0 && (cause == EACCES || cause == EPERM))
        throw EnvironmentError(fmt::format("readable by root only: {}", file.string()));
    if (size < 0) throw EnvironmentError(fmt::format("cannot read {}: {}", file.string(), std::strerror(cause)));
    const std::string_view all(text);
    return std::string(all.substr(0, all.find_first_of(" \n")));
}

/// Folders of zones by the kernel's names for them, "intel-rapl:0" and below it "intel-rapl:0:1". sysfs lists all of them
/// in one folder and each again in the zone that contains it. Zones of intel-rapl-mmio count the same packages once more.
void collect(const fs::path& folder, std::map<std::string, fs::path>& zones) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("intel-rapl:") || !zones.emplace(name, entry.path()).second) continue;
        collect(entry.path(), zones);
    }
}

EnergyZone zone_at(const fs::path& folder, std::string name) {
    EnergyZone zone{.name = std::move(name), .counter = folder / "energy_uj"};
    zone.range_uj = read_counter(folder / "max_energy_range_uj");
    if (zone.range_uj == 0)
        throw EnvironmentError(fmt::format("{} says that its counter has no range", folder.string()));
    read_counter(zone.counter);
    return zone;
}

}  // namespace

fs::path powercap_folder() {
    const char* chosen = std::getenv("GNNBENCH_POWERCAP");
    return chosen && *chosen ? chosen : "/sys/class/powercap";
}

bool on_virtual_machine() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("flags")) return (line + ' ').find(" hypervisor ") != std::string::npos;
    return false;
}

std::uint64_t read_counter(const fs::path& file) {
    const std::string word = first_word(file);
    std::uint64_t value = 0;
    const auto end = std::from_chars(word.data(), word.data() + word.size(), value);
    if (end.ec != std::errc() || end.ptr != word.data() + word.size())
        throw EnvironmentError(fmt::format("{} holds no number but '{}'", file.string(), word));
    return value;
}

EnergyZones find_zones(const fs::path& folder, bool virtual_machine) try {
    std::map<std::string, fs::path> found;
    collect(folder, found);
    EnergyZones all;
    std::map<std::string, std::string> packages;  // by the kernel's name
    for (const auto& [id, path] : found) {
        const auto above = packages.find(id.substr(0, id.rfind(':')));
        const std::string name = first_word(path / "name");
        if (above != packages.end() && name == "dram") {
            all.zones.push_back(zone_at(path, "dram of " + above->second));
        } else if (std::ranges::count(id, ':') == 1 && name.starts_with("package")) {
            packages[id] = name;
            all.zones.push_back(zone_at(path, name));
        }
    }
    if (!all.zones.empty()) return all;
    if (virtual_machine) return {{}, "virtual machine: it is shown no counters of its host's processors"};
    std::error_code none;
    if (fs::is_directory(folder, none))
        return {{}, fmt::format("no package has a counter in the powercap tree {}", folder.string())};
    return {{}, fmt::format("no powercap tree: there is no folder {}", folder.string())};
} catch (const EnvironmentError& e) {
    return {{}, e.what()};
}

}  // namespace gnnbench
