#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <gnnbench/simulation/machine.hpp>

namespace gnnbench {

/// Machines that come with the program, sorted by name.
std::vector<std::string> machine_names();

/// A machine of that name, or the file at that path, which ends in .yaml. Throws SpecError where there is none, and
/// with all that is wrong with the file.
simulation::Machine load_machine(const std::string& given);
/// The file's text; `given` as above.
std::string machine_text(const std::string& given);

/// Throws SpecError, whose messages begin with `origin`, for text that is no machine.
simulation::Machine read_machine(const std::string& text, const std::string& origin);

/// JSON Schema (draft-07) of machine files.
nlohmann::json machine_schema();

}  // namespace gnnbench
