#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/scaling_axis.hpp"
#include "spec/cell.hpp"
#include "spec/findings.hpp"
#include "spec/launcher_choice.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// A key that the matrix (or a list at the top level) varies.
struct MatrixAxis {
    std::string key;                  ///< "gpus", "train.lr", "model"; of a zip all its keys: "gpus, seed"
    std::vector<std::string> values;  ///< as written, for people: "mg-gcn", "{name: mg-gcn, overlap: true}"
    std::vector<Place> places;        ///< of each value
};

/// A cell that the file excludes.
struct ExcludedCell {
    Cell cell;
    std::string reason;  ///< as the file says; may be empty
    Place place;         ///< of the rule
};

/// A YAML file, resolved.
struct Experiment {
    std::string name, description;  ///< of a profile that gives no name: "<name>-<profile>"
    std::string profile;            ///< empty: none
    std::filesystem::path file;
    std::string text;  ///< of the file and of what it imports, as read: provenance
    std::vector<std::string> overrides;
    std::int64_t trials = 0;
    Limits limits;
    LauncherChoice launcher;
    ScalingAxis scaling;  ///< that the key `scaling` declares

    std::vector<Cell> cells;  ///< distinct; the last axis varies fastest, then those added by `include`
    std::vector<ExcludedCell> excluded;
    std::vector<MatrixAxis> axes;  ///< in the order of the file
    /// For each cell the value of each axis, −1 if `include` added it; of equal cells, the first one's.
    std::vector<std::vector<std::int32_t>> choices;
    std::int64_t combinations = 0;  ///< of the axes, before equal cells became one
    /// Where each key's value comes from: "exp.yaml:4:10", "--set epochs=5", "default", "matrix".
    std::map<std::string, std::string> origins;
};

struct LoadOptions {
    std::vector<std::string> overrides;  ///< "key.path=value", as given to --set
    int cores = 0;                       ///< of one host; 0: of this one
    int hosts = 1;                       ///< over which ranks are spread evenly
    std::string profile{};               ///< empty: the file's default profile, if any
    HostsOf hosts_of{};                  ///< called unless the launcher is local; otherwise, or if empty: as above
};

/// Throws ExperimentError with all errors, SpecError if there is no such file, PluginError
/// for a plugin that exists but cannot be used.
Experiment load_experiment(const std::filesystem::path& file, const LoadOptions& options,
                           const PluginSource& plugins, const DatasetSource& datasets);
/// The same for a text; `file` names it in messages, and relative paths start at its folder.
Experiment read_experiment(const std::string& text, const std::filesystem::path& file, const LoadOptions& options,
                           const PluginSource& plugins, const DatasetSource& datasets);

}  // namespace gnnbench
