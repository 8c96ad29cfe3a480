#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gnnbench {

/// A counter of Linux' powercap tree.
struct EnergyZone {
    std::string name;               ///< "package-0", "dram of package-0"
    std::filesystem::path counter;  ///< its file energy_uj: microjoules
    std::uint64_t range_uj = 0;     ///< the counter goes from 0 up to this, and begins again
    bool operator==(const EnergyZone&) const = default;
};

/// The zones that together are the energy of this host's processors and memory, or why that is unknown.
struct EnergyZones {
    std::vector<EnergyZone> zones;
    std::string reason;  ///< empty: there are zones, and they can be read
};

/// GNNBENCH_POWERCAP, or /sys/class/powercap.
std::filesystem::path powercap_folder();
/// Whether a hypervisor runs this kernel, as its processors say.
bool on_virtual_machine();

/// Every package, and every zone called dram below one. The other zones below a package (core, uncore) are part of it, and
/// psys contains the packages. `virtual_machine` explains why nothing is there. Every counter has been read once.
EnergyZones find_zones(const std::filesystem::path& folder, bool virtual_machine);

/// Microjoules. Throws EnvironmentError with the reason: "readable by root only: /sys/…/energy_uj".
std::uint64_t read_counter(const std::filesystem::path& file);

}  // namespace gnnbench
