#pragma once
#include <span>
#include <string>

#include <gnnbench/simulation/machine.hpp>

/// The numbers of a machine file, one row each; machine_file.cpp reads them, machine_schema.cpp describes them.
namespace gnnbench {

/// Values that are so large or small are not limited.
constexpr double unlimited = 1e18;

/// A number of a machine file: {value: …, source: …}.
struct MachineField {
    const char *section, *key;
    double scale;  ///< of its unit
    bool whole, required;
    double minimum, maximum;
    const char* help;
    void (*set)(simulation::Machine&, double);
    double plausible = unlimited;  ///< more is questioned, unless the file says `checked: true`; in the key's unit

    std::string whole_key() const;  ///< "links.nics"
};
std::span<const MachineField> machine_fields();

/// Numbers measured at several sizes: {at: {64: …, 1e6: …}, source: …}, all optional.
struct MachineCurve {
    const char* section;
    std::string key;
    double scale;
    const char* help;
    simulation::Curve simulation::Device::* of;  ///< nullptr: of links, by the key less its unit

    simulation::Curve& in(simulation::Machine& m) const;
};
std::span<const MachineCurve> machine_curves();

constexpr const char* machine_sections[] = {"device", "links", "thesis_spmm"};

}  // namespace gnnbench
