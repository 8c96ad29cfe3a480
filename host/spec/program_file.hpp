#pragma once
#include <string>
#include <vector>

#include <gnnbench/simulation/machine.hpp>

/// What released programs do beside their algorithms. The parameter `machine` of the kernel `simulated` names a machine alone,
/// which runs the algorithm as it is here, or "perlmutter as released", where each scheme runs as its own program, or
/// "perlmutter as bns-gcn", where all run as that one. A machine, a program: a shipped one's name, or a file that ends in .yaml.
namespace gnnbench {

struct ProgramFile {
    std::string about;
    std::vector<std::string> schemes;  ///< whose released program it is
    simulation::Program program;
    std::vector<simulation::Quantity> quantities;  ///< its numbers, as the file has them
};

/// Programs that come with gnnbench, sorted by name.
std::vector<std::string> program_names();
/// Throws SpecError where there is none, and with all that is wrong with the file.
ProgramFile load_program(const std::string& name_or_path);
/// Throws SpecError, whose messages begin with `origin`, for text that is no program.
ProgramFile read_program(const std::string& text, const std::string& origin);

/// The name of the program that a scheme was released as; empty: none is known.
std::string released_program(const std::string& scheme);
/// The two parts of the parameter `machine`.
struct SimulatedChoice {
    std::string machine, program;  ///< `program` is empty for the algorithm alone, or "released"

    explicit SimulatedChoice(const std::string& given);
    std::string text() const;
    /// Of both files: another content of either is another cell. Throws as above.
    std::string digest() const;
    /// As this scheme's trials have it. Throws SpecError as above, and where nothing is known of its released program.
    simulation::Machine load(const std::string& scheme) const;
};

}  // namespace gnnbench
