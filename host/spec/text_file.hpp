#pragma once
#include <filesystem>
#include <string>

namespace gnnbench {

/// The whole of a text file that a person wrote: an experiment, a table's definition; without a byte order mark. Throws SpecError that begins with
/// `expected` ("expected an experiment file at") where there is none, where it is a folder or a pipe that nobody may
/// ever write to, where it is longer than 16 MiB, and where it is UTF-16. An open descriptor (/dev/stdin, a shell's <(…)) is read.
std::string read_text_file(const std::filesystem::path& file, const std::string& expected);

/// Whether what was given in place of a name is a YAML file's path.
inline bool names_yaml_file(const std::string& given) {
    return given.ends_with(".yaml") || given.ends_with(".yml");
}

}  // namespace gnnbench
