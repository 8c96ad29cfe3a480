#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "spec/yaml.hpp"

namespace gnnbench {

/// An experiment file merged with what it imports and with one of its profiles.
struct Composition {
    YamlNode root;                      ///< without imports, profiles and profile
    std::string profile;                ///< that was chosen; empty: none
    bool profile_names = false;         ///< whether that profile renames the experiment
    std::vector<std::string> imported;  ///< texts of the files, each after a comment with its path
};

/// Merges `over` into `base`: keys of `over` win, sections (model, train, limits, matrix) merge key by key, and a key
/// that is set outside the matrix leaves the matrix of `base`, as one that varies leaves the top level of `base`.
void overlay(YamlNode& base, const YamlNode& over);
/// A setting outside the matrix replaces the matrix's values of the same key.
void remove_from_matrix(YamlNode& experiment, const std::string& path);
/// A list in the matrix replaces the top level's setting of the same key.
void remove_from_top_level(YamlNode& experiment, const std::string& path);
/// Removes the numbers of GPUs, and the scaling, that a new `scaling` replaces.
void make_room_for_scaling(YamlNode& experiment);

/// `root`, a mapping that was read from `file`, over what it imports, profiles included. What is invalid is added to
/// `findings`.
YamlNode with_imports(YamlNode root, const std::filesystem::path& file, Findings& findings);

/// Takes `imports`, `profiles` and `profile` out of `root`, a mapping that was read from `file`: imported files first,
/// each over those before, then the file itself, then the profile (`profile`, else the one that the file names). What
/// is invalid is added to `findings`; throws SpecError if the file has no such `profile`.
Composition compose(YamlNode root, const std::filesystem::path& file, const std::string& profile,
                    Findings& findings);

}  // namespace gnnbench
