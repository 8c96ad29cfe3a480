#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "spec/yaml.hpp"

namespace gnnbench {

/// An experiment file together with what it imports, and one of its profiles laid over it.
struct Composition {
    YamlNode root;                      ///< without imports, profiles and profile
    std::string profile;                ///< that was chosen; empty: none
    bool profile_names = false;         ///< whether that profile gives the experiment a name of its own
    std::vector<std::string> imported;  ///< texts of the files, each after a comment with its path
};

/// Lays `over` upon `base`: keys of `over` win, sections (model, train, limits, matrix) are merged key by key, and a key
/// that is set outside the matrix leaves the matrix of `base`, as one that varies leaves the top level of `base`.
void overlay(YamlNode& base, const YamlNode& over);
/// A setting outside the matrix replaces what the matrix says of the same key.
void leave_matrix(YamlNode& experiment, const std::string& path);

/// Takes `imports`, `profiles` and `profile` out of `root`, a mapping that was read from `file`: imported files first,
/// each over those before, then the file itself, then the profile (`profile`, else the one that the file names). What
/// cannot be goes to `findings`; throws SpecError where `profile` is none of the file's.
Composition compose(YamlNode root, const std::filesystem::path& file, const std::string& profile,
                    Findings& findings);

}  // namespace gnnbench
