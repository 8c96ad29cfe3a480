#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// A launcher that can be named.
struct LauncherFile {
    std::string name;
    std::filesystem::path file;  ///< empty: it comes with the program
    std::string text;
};

/// The folders of the user's and the site's launcher files, those that count first: of GNNBENCH_LAUNCHER_PATH, the user's
/// configuration, /etc/gnnbench/launchers. Launchers run commands, so no folder follows from an experiment's place. Throws SpecError
/// for a relative folder in the variable.
std::vector<std::filesystem::path> launcher_folders();

/// All launchers that can be named, sorted by name; the first of a name counts.
std::vector<LauncherFile> launcher_files();
std::vector<std::string> launcher_names();

/// A launcher's content, with that of the one it extends, and its name: see LauncherDeclaration. Throws ExperimentError with
/// all that is wrong with its file, SpecError where there is none of that name.
nlohmann::json load_launcher(const std::string& name);
/// The same of a file's text. Messages begin with `origin`.
nlohmann::json read_launcher(const std::string& text, const std::string& origin, const std::string& name);

}  // namespace gnnbench
