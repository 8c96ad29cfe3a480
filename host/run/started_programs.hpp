#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "spec/experiment.hpp"

namespace gnnbench {

/// What an experiment's file has gnnbench start that is not part of gnnbench: a program as scheme, the program of a
/// partitioner, the shell lines that a job begins with.
struct StartedProgram {
    struct File {
        std::filesystem::path path;
        std::string digest;  ///< SHA-256 of its content
    };
    std::string words;        ///< as the experiment has them
    std::vector<File> files;  ///< the program and what its words name, as far as they are on this host
    std::string digest;       ///< SHA-256 of the words and of the files' contents
};

/// Programs of the chosen cells, each once, in the experiment's order. Reads their files and starts nothing.
std::vector<StartedProgram> started_programs(const Experiment& experiment, const std::vector<bool>& chosen,
                                             const PluginSource& plugins);

/// Whether a parameter of the partitioner names a program (ParamType::program).
bool starts_a_program(const PluginChoice& partitioner, const PluginSource& plugins);

/// "./train.py --fast (/home/ada/train.py, SHA-256 1234abcd…)", as lists of programs show it.
std::string to_text(const StartedProgram& program);

}  // namespace gnnbench
