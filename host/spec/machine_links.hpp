#pragma once
#include <nlohmann/json.hpp>

#include "spec/machine_numbers.hpp"

namespace gnnbench {

/// Keys of a machine file's `links` that are more than one number: how many links a device uses (`among`), which devices they
/// join (`pairs`), what groups were measured to carry (`groups`).
constexpr const char* link_tables[] = {"among", "pairs", "groups"};

/// Reads them into the machine, whose devices_per_node is known. `root`: the file.
void read_link_tables(const YamlNode& root, const Place& file, MachineNumbers& numbers, Findings& findings,
                      simulation::Machine& machine);

/// JSON Schema by key.
nlohmann::json link_tables_schema();

}  // namespace gnnbench
